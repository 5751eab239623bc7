"""The child that runs one isolated handler: `python -m duetime.executor.isolation FD LIFE PID`.

It forks: the handler runs in the fork, and its parent becomes the supervisor, which kills it and
everything that it has started when the executor closes `LIFE` or dies.
"""

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NoReturn

from duetime.core.errors import Snooze, Unavailable
from duetime.core.results import encode_result
from duetime.core.task import Progress
from duetime.executor.call_handler import call_handler
from duetime.executor.failures import failure_of
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.protocol import (
    PROCESS_RETRY_DELAY,
    Answer,
    Failed,
    Question,
    ReadRequest,
    Renewal,
    RunRequest,
    SubmitRequest,
    Succeeded,
)
from duetime.executor.isolation.supervisor import supervise
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.handlers import registry, sources
from duetime.handlers.handler import Handler
from duetime.logs import formatting as log_lines
from duetime.logs import task_context as task_log


class Parent:
    """The executor, seen from the child."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe = pipe
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._asked = 0
        self._lock = Lock()  # a handler may have threads of its own

    def renew(self, progress: Progress | None) -> None:
        self._ask(Renewal(progress=progress))

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = self._ask(SubmitRequest(tasks=tasks))
        return answers

    def read(self, task_id: str) -> dict[str, Any] | None:
        task: dict[str, Any] | None = self._ask(ReadRequest(task_id=task_id))
        return task

    def _ask(self, request: Renewal | SubmitRequest | ReadRequest) -> Any:
        with self._lock:
            self._asked += 1
            self._pipe.send(Question(number=self._asked, request=request))
            answer = self._answers.get()
            while answer.number != self._asked:
                answer = self._answers.get()
        if answer.unavailable is not None:
            raise Unavailable(answer.unavailable)
        return answer.value

    def report(self, outcome: Succeeded | Failed) -> None:
        with self._lock:
            self._pipe.send(outcome)

    def listen(self, control: RunControl) -> None:
        while True:
            try:
                notice = self._pipe.recv()
            except (EOFError, OSError):
                _end()
            if notice.reason is not None:
                control.request_stop(notice.reason)
            if notice.answer is not None:
                self._answers.put(notice.answer)


def main(fd: int, life: int, executor: int) -> None:
    """`fd` is the pipe to the executor, `life` a pipe that closes when the executor ends, and
    `executor` its process id."""
    for descriptor in (fd, life):
        os.set_inheritable(descriptor, False)
    processes.adopt_orphans()
    pipe = Connection(fd)
    if handler := _fork(pipe):
        pipe.close()
        supervise(handler, life, executor)
    os.close(life)
    os.setpgid(0, 0)  # so that a handler that signals its group does not reach the supervisor
    processes.end_with_parent()
    try:
        request = pipe.recv()
    except EOFError:
        return  # the executor is gone already
    run(request, Parent(pipe))


def _fork(pipe: "Connection[Any, Any]") -> int:
    try:
        return os.fork()
    except OSError as error:
        snooze = Snooze(PROCESS_RETRY_DELAY, f"no process could be started in the child: {error}")
        pipe.send(Failed(failure=failure_of(snooze)))
        raise SystemExit from None


def run(request: RunRequest, parent: Parent) -> None:
    _restore_paths(request)
    sources.import_from(request.sources)
    if request.logs is not None:
        log_lines.install(request.logs)
    control = RunControl(request.task, parent.renew, lambda: request.previous, children=parent)
    control.trace = request.trace
    try:
        _listen(parent, control)
        # The executor refuses a large result if it has no place for it.
        result = encode_result(_call(request, control), large=True)
    except BaseException as error:  # noqa: BLE001 - the executor gets every kind of failure
        parent.report(Failed(failure=failure_of(error)))
    else:
        parent.report(Succeeded(result=result))


def _listen(parent: Parent, control: RunControl) -> None:
    try:
        Thread(target=parent.listen, args=(control,), daemon=True).start()
    except RuntimeError as error:
        raise Snooze(
            PROCESS_RETRY_DELAY, f"no thread could be started in the child: {error}"
        ) from None


def _call(request: RunRequest, control: RunControl) -> Any:
    token = task_log.begin(request.task)
    try:
        return call_handler(_handler(request), request.task.spec.payload, control)
    finally:
        task_log.end(token)


def _restore_paths(request: RunRequest) -> None:
    sys.path[:] = request.path
    os.environ.pop("PYTHONPATH", None)
    if request.python_path is not None:
        os.environ["PYTHONPATH"] = request.python_path


def _handler(request: RunRequest) -> Handler[..., Any]:
    try:
        importlib.import_module(request.module)
    except ImportError as error:
        reason = f"{request.module!r} cannot be imported in a child: {error}"
        raise TargetFailed("UnknownHandler", reason) from None
    handler = registry.find(request.name)
    if handler is None:
        reason = f"{request.module!r} registers no handler {request.name!r} in a child"
        raise TargetFailed("UnknownHandler", reason)
    return handler


def _end() -> NoReturn:
    """The supervisor kills what the handler has started."""
    processes.kill(os.getpid())
    os._exit(1)  # not reached


if __name__ == "__main__":
    main(*(int(fd) for fd in sys.argv[1:]))
