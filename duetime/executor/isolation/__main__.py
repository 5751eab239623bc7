"""The child that runs one isolated handler: `python -m lambdas.executor.isolated FD LIFE PID`.

It forks: the handler runs in the fork, and its parent becomes the keeper, which ends it and all
that it has started when the executor says so or dies.
"""

import importlib
import os
import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NoReturn

from lambdas import log_lines, registry, task_log
from lambdas.core.errors import Snooze
from lambdas.core.results import encode_result
from lambdas.core.task import Progress
from lambdas.executor import processes
from lambdas.executor.calling import call
from lambdas.executor.context import Context
from lambdas.executor.failures import failure_of
from lambdas.executor.keeper import keep
from lambdas.executor.targets import TargetFailed
from lambdas.executor.wire import SPARE_AGAIN, Failed, Order, Renewal, Succeeded


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


def main(fd: int, life: int, executor: int) -> None:
    """`fd` is the executor's pipe, `life` ends with the executor, which has the id `executor`."""
    for one in (fd, life):
        os.set_inheritable(one, False)
    processes.adopt_orphans()
    pipe = Connection(fd)
    if handler := _fork(pipe):
        pipe.close()
        keep(handler, life, executor)
    os.close(life)
    os.setpgid(0, 0)  # so that a handler that signals its group does not reach the keeper
    processes.end_with_parent()
    try:
        order = pipe.recv()
    except EOFError:
        return  # it is gone already
    run(order, Parent(pipe))


def _fork(pipe: "Connection[Any, Any]") -> int:
    try:
        return os.fork()
    except OSError as error:
        snooze = Snooze(SPARE_AGAIN, f"no process could be started in the child: {error}")
        pipe.send(Failed(failure=failure_of(snooze)))
        raise SystemExit from None


def run(order: Order, parent: Parent) -> None:
    _take_over(order)
    if order.logs is not None:
        log_lines.install(order.logs)
    ctx = Context(order.task, parent.renew, lambda: order.previous)
    try:
        _listen(parent, ctx)
        result = encode_result(_call(order, ctx))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the executor is told
        parent.tell(Failed(failure=failure_of(error)))
    else:
        parent.tell(Succeeded(result=result))


def _listen(parent: Parent, ctx: Context) -> None:
    try:
        Thread(target=parent.listen, args=(ctx,), daemon=True).start()
    except RuntimeError as error:
        raise Snooze(SPARE_AGAIN, f"no thread could be started in the child: {error}") from None


def _call(order: Order, ctx: Context) -> Any:
    token = task_log.begin(order.task)
    try:
        return call(_handler(order), order.task.spec.payload, ctx)
    finally:
        task_log.end(token)


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


def _end() -> NoReturn:
    """The keeper sees to what the handler has started."""
    processes.kill(os.getpid())
    os._exit(1)  # not reached


if __name__ == "__main__":
    main(*(int(fd) for fd in sys.argv[1:]))
