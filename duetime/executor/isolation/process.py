"""The executor's side of an isolated handler: the child process, and the pipe to it.

The pipe has a descriptor of its own, so the handler's stdout and stderr stay as they are.
"""

import errno
import logging
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from multiprocessing.connection import Pipe
from time import monotonic
from typing import Any, BinaryIO

from duetime.core.errors import Snooze, Stopped, Unavailable
from duetime.core.results import Encoded
from duetime.core.task import Progress, Task
from duetime.executor.failures import FailedElsewhere
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.protocol import (
    PROCESS_RETRY_DELAY,
    Answer,
    Failed,
    Question,
    ReadRequest,
    Renewal,
    RunRequest,
    StopNotice,
    SubmitRequest,
    Succeeded,
)
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.forks import keep_from_children
from duetime.handlers import sources
from duetime.handlers.context import Context
from duetime.handlers.handler import Handler
from duetime.logs import formatting as log_lines

log = logging.getLogger(__name__)

POLL_INTERVAL = 0.1  # seconds between two checks whether the handler should stop
OUT_OF_RESOURCES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
EXIT_TIMEOUT = 1.0  # seconds for a child to end by itself after it has sent its outcome
SUPERVISOR_TIMEOUT = 10.0  # seconds for the supervisor to kill the handler


class ChildGone(Exception):
    """Raised when the child no longer answers."""


class Child:
    """The handler's process and its supervisor. `_process` is the supervisor."""

    def __init__(self) -> None:
        self._killed_at: float | None = None
        with ExitStack() as opened:
            self._pipe, theirs = Pipe()
            opened.callback(self._pipe.close)
            with theirs:
                life, self._life = _open_pipe()
                opened.callback(self._life.close)
                with life:
                    self._process = _start(theirs.fileno(), life.fileno())
            opened.pop_all()  # the child has started: they stay open
        keep_from_children(self)  # a fork that inherits `life` would keep this child alive

    def descriptors(self) -> list[int]:
        ends = (self._pipe, self._life)
        return [end.fileno() for end in ends if not end.closed]

    def send(self, message: RunRequest | StopNotice) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            raise ChildGone from None

    def receive(self) -> Any:
        """Returns None if no message comes for POLL_INTERVAL."""
        try:
            # A fork of the handler may hold the other end of the pipe, so EOF is not enough.
            alive = self._process.poll() is None
            if self._pipe.poll(POLL_INTERVAL):
                return self._pipe.recv()
        except (EOFError, OSError):
            raise ChildGone from None
        if not alive or self._kill_timed_out():
            raise ChildGone
        return None

    def wait_for_exit(self) -> int | None:
        """Returns the exit code, or None if the child does not end by itself."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(EXIT_TIMEOUT)
        return None

    def kill(self) -> None:
        """Have the supervisor kill the handler and everything that it has started. Any thread may
        call this, and more than once."""
        self._killed_at = self._killed_at or monotonic()
        self._life.close()

    def _kill_timed_out(self) -> bool:
        return self._killed_at is not None and monotonic() - self._killed_at > SUPERVISOR_TIMEOUT

    def close(self) -> None:
        self.kill()
        try:
            self._process.wait(SUPERVISOR_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._kill_supervisor()
        self._pipe.close()

    def _kill_supervisor(self) -> None:
        """A handler may stop its parent with a signal; that must not block the executor."""
        log.warning("supervisor killed: handler not ended in time", extra={"step": "execute"})
        if processes.LINUX:
            processes.kill_below(self._process.pid, SUPERVISOR_TIMEOUT)
        self._process.kill()
        self._process.wait()


def run_in_child(handler: Handler[..., Any], task: Task, control: RunControl) -> Any:
    child = _start_child()
    try:
        with control.interrupt.stopping_with(child.kill):
            child.send(_request(handler, task, control))
            outcome = _serve(child, control)
            child.wait_for_exit()
    except ChildGone:
        if control.interrupt.triggered:
            raise Stopped from None
        raise TargetFailed("ChildDied", _death(child.wait_for_exit())) from None
    finally:
        child.close()
    if isinstance(outcome, Failed):
        raise FailedElsewhere(outcome.failure)
    return None if outcome.result is None else Encoded(outcome.result)


def _start_child() -> Child:
    """Raises Snooze if the machine is out of processes, which costs the task no attempt."""
    try:
        return Child()
    except OSError as error:
        if error.errno not in OUT_OF_RESOURCES:
            raise
        raise Snooze(PROCESS_RETRY_DELAY, f"no child could be started: {error}") from None


def _request(handler: Handler[..., Any], task: Task, control: RunControl) -> RunRequest:
    return RunRequest(
        path=list(sys.path),
        module=handler.__module__,
        name=handler.name,
        task=task,
        previous=control.context.previous,
        python_path=os.environ.get("PYTHONPATH"),
        sources=sources.kept(),
        logs=log_lines.installed(),
        trace=control.trace,
    )


def _serve(child: Child, control: RunControl) -> Succeeded | Failed:
    sent = None
    while True:
        if control.reason != sent:
            sent = control.reason
            child.send(StopNotice(reason=sent))
        match child.receive():
            case Succeeded() | Failed() as outcome:
                return outcome
            case None:
                continue
            case question:
                answer = _answer(control, question)
                child.send(StopNotice(reason=control.reason, answer=answer))


def _answer(control: RunControl, question: Question) -> Answer:
    try:
        return Answer(number=question.number, value=_carried_out(control, question.request))
    except Unavailable as error:
        return Answer(number=question.number, unavailable=str(error))


def _carried_out(control: RunControl, request: Renewal | SubmitRequest | ReadRequest) -> Any:
    match request:
        case Renewal(progress=progress):
            _renew(control.context, progress)
            return None
        case SubmitRequest(tasks=tasks):
            return control.submit(tasks)
        case ReadRequest(task_id=task_id):
            return control.read(task_id)


def _renew(ctx: Context, progress: Progress | None) -> None:
    if progress is None:
        ctx.heartbeat()
    else:
        ctx.progress(progress.fraction, progress.message)


def _open_pipe() -> tuple[BinaryIO, BinaryIO]:
    reads, writes = os.pipe()
    return os.fdopen(reads, "rb", 0), os.fdopen(writes, "wb", 0)


def _start(fd: int, life: int) -> subprocess.Popen[bytes]:
    # A process group of its own, so that Ctrl-C reaches the runner alone.
    arguments = [str(number) for number in (fd, life, os.getpid())]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "duetime.executor.isolation", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entry or os.curdir for entry in sys.path)},
        stdin=subprocess.DEVNULL,
        pass_fds=[fd, life],
        process_group=0,
    )


def _death(code: int | None) -> str:
    if code is None:
        return "the child stopped talking"
    if code >= 0:
        return f"the child ended with code {code} and no outcome"
    return f"the child was killed by {signal.Signals(-code).name}"
