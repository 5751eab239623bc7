"""The child that runs one isolated handler: `python -m lambdas.executor.isolated FD LIFE`.

It ends with its executor, and so does every program in its process group: a keeper beside it,
which nothing can hold up, kills them all.
"""

import importlib
import os
import signal
import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NoReturn

from lambdas import registry
from lambdas.core.codec import to_json
from lambdas.core.task import Progress
from lambdas.executor.calling import call
from lambdas.executor.context import Context
from lambdas.executor.failures import failure_of
from lambdas.executor.runs import check_result
from lambdas.executor.targets import TargetFailed
from lambdas.executor.wire import Failed, Order, Renewal, Succeeded


class Parent:
    """The executor, seen from the child."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe = pipe
        self._answers: SimpleQueue[None] = SimpleQueue()
        self._turn = Lock()  # a handler may have threads of its own

    def renew(self, progress: Progress | None) -> None:
        with self._turn:
            self._pipe.send(Renewal(progress=progress))
            self._answers.get()

    def tell(self, outcome: Succeeded | Failed) -> None:
        with self._turn:
            self._pipe.send(outcome)

    def listen(self, ctx: Context) -> None:
        while True:
            try:
                word = self._pipe.recv()
            except (EOFError, OSError):
                _end()
            if word.stop:
                ctx.stop()
            if word.answer:
                self._answers.put(None)


def main(fd: int, life: int) -> None:
    os.set_inheritable(fd, False)
    _keep(fd, life)
    pipe = Connection(fd)
    try:
        order = pipe.recv()
    except EOFError:
        return  # it is gone already
    run(order, Parent(pipe))


def run(order: Order, parent: Parent) -> None:
    _take_over(order)
    ctx = Context(order.task, parent.renew, lambda: order.previous)
    Thread(target=parent.listen, args=(ctx,), daemon=True).start()
    try:
        result = call(_handler(order), order.task.spec.payload, ctx)
        check_result(result)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the executor is told
        parent.tell(Failed(failure=failure_of(error)))
    else:
        parent.tell(Succeeded(result=to_json(result)))


def _take_over(order: Order) -> None:
    sys.path[:] = order.path
    os.environ.pop("PYTHONPATH", None)
    if order.python_path is not None:
        os.environ["PYTHONPATH"] = order.python_path


def _handler(order: Order) -> registry.Handler:
    try:
        importlib.import_module(order.module)
    except ImportError as error:
        reason = f"{order.module!r} cannot be imported in a child: {error}"
        raise TargetFailed("UnknownHandler", reason) from None
    handler = registry.find(order.name)
    if handler is None:
        reason = f"{order.module!r} registers no handler {order.name!r} in a child"
        raise TargetFailed("UnknownHandler", reason)
    return handler.run


def _keep(fd: int, life: int) -> None:
    """`life` ends when the executor does. A handler that waits in C would not notice."""
    if os.fork():
        os.close(life)
        return
    os.close(fd)
    os.read(life, 1)
    _end()


def _end() -> NoReturn:
    """With everything that the handler has started."""
    os.killpg(0, signal.SIGKILL)
    os._exit(1)  # not reached


if __name__ == "__main__":
    main(*(int(fd) for fd in sys.argv[1:]))
