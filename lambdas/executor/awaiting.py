"""Running an `async` handler; it is stopped as asyncio does it, by cancelling its task."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from lambdas.executor.context import Context
from lambdas.executor.stopping import Stopped
from lambdas.forks import EndForkedChild


def run_coroutine(coroutine: Coroutine[Any, Any, Any], ctx: Context) -> Any:
    try:
        ctx.brake.release()  # an exception from nowhere might hit the event loop
        return asyncio.run(_awaited(coroutine, ctx))
    finally:
        coroutine.close()  # if it never began


async def _awaited(coroutine: Coroutine[Any, Any, Any], ctx: Context) -> Any:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is None:
        raise RuntimeError("not in a task")
    try:
        with ctx.brake.by(lambda: loop.call_soon_threadsafe(task.cancel)), EndForkedChild():
            return await coroutine
    except asyncio.CancelledError as error:
        if not ctx.brake.pulled:
            raise
        raise Stopped().with_traceback(error.__traceback__) from None
