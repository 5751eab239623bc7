"""The call of a handler, plain or `async`.

Only an `async` handler loads asyncio: the import takes several milliseconds of a cold start.
"""

import inspect
from collections.abc import Coroutine
from typing import Any

from duetime.core.errors import AskedForDelay, PermanentError, Stopped
from duetime.executor.failures import StoppedByDrain
from duetime.executor.interrupt import Interrupt
from duetime.executor.run_control import RunControl
from duetime.forks import EndForkedChild
from duetime.handlers.context import active
from duetime.handlers.handler import Handler


def call_handler(handler: Handler[..., Any], payload: Any, control: RunControl) -> Any:
    """Returns the result as the handler's annotation converts it. Raises BadPayload if the payload
    does not fit the parameters.

    A handler that stops because its worker drains does so by raising, as after a cancellation:
    that is no failure, and uses up no attempt."""
    ctx = control.context
    call = handler.bind(payload, ctx)
    try:
        with active(ctx):
            with EndForkedChild():
                result = call()
            if inspect.iscoroutine(result):
                result = _run_coroutine(result, control.interrupt)
    except (AskedForDelay, PermanentError):
        raise
    except Exception as error:
        if ctx._saw_draining:
            raise StoppedByDrain(error) from None
        raise
    return handler.result_json(result)


def _run_coroutine(coroutine: Coroutine[Any, Any, Any], interrupt: Interrupt) -> Any:
    import asyncio

    try:
        interrupt.disarm()  # an asynchronous exception might hit the event loop
        return asyncio.run(_await(coroutine, interrupt))
    finally:
        coroutine.close()  # if it never began


async def _await(coroutine: Coroutine[Any, Any, Any], interrupt: Interrupt) -> Any:
    import asyncio

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise RuntimeError("not in a task")
    try:
        cancel = interrupt.stopping_with(lambda: loop.call_soon_threadsafe(task.cancel))
        with cancel, EndForkedChild():
            return await coroutine
    except asyncio.CancelledError as error:
        if not interrupt.triggered:
            raise
        raise Stopped().with_traceback(error.__traceback__) from None
