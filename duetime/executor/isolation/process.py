"""An isolated handler, seen from the executor: a child that runs it, and a pipe to talk by.

The pipe has a descriptor of its own, so that what the handler prints goes where it always goes.
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

from lambdas import log_lines
from lambdas.core.errors import Snooze
from lambdas.core.results import Encoded
from lambdas.core.task import Progress, Task
from lambdas.executor import processes
from lambdas.executor.context import Context
from lambdas.executor.failures import FailedElsewhere
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets import TargetFailed
from lambdas.executor.wire import SPARE_AGAIN, Failed, Order, Renewal, Succeeded, Word
from lambdas.forks import keep_from_children
from lambdas.registry import Registered

log = logging.getLogger(__name__)

LOOK = 0.1  # seconds between two looks at whether the handler is to stop
SCARCE = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
LEAVING = 1.0  # seconds that a child gets to end by itself once it has said its last word
KEEPING = 10.0  # seconds that its keeper gets to end it, before the executor does


class Gone(Exception):
    """The child does not answer any more."""


class Child:
    """The handler's process and its keeper, which is the one that is waited for."""

    def __init__(self) -> None:
        self._killed_at: float | None = None
        with ExitStack() as opened:
            self._pipe, theirs = Pipe()
            opened.callback(self._pipe.close)
            with theirs:
                life, self._life = _a_pipe()
                opened.callback(self._life.close)
                with life:
                    self._system = _start(theirs.fileno(), life.fileno())
            opened.pop_all()  # it was started: they stay open
        keep_from_children(self)  # a child that keeps `life` would keep this one alive

    def descriptors(self) -> list[int]:
        ends = (self._pipe, self._life)
        return [end.fileno() for end in ends if not end.closed]

    def say(self, word: Order | Word) -> None:
        try:
            self._pipe.send(word)
        except OSError:
            raise Gone from None

    def hear(self) -> Any:
        """None if it says nothing for a while."""
        try:
            # Somebody else may hold the other end, if the handler has forked.
            alive = self._system.poll() is None
            if self._pipe.poll(LOOK):
                return self._pipe.recv()
        except (EOFError, OSError):
            raise Gone from None
        if not alive or self._has_long_been_killed():
            raise Gone
        return None

    def leave(self) -> int | None:
        """Let it end by itself; how it did."""
        with suppress(subprocess.TimeoutExpired):
            return self._system.wait(LEAVING)
        return None

    def kill(self) -> None:
        """With whatever it has started and left behind: the keeper does it. From any thread, and
        more than once."""
        self._killed_at = self._killed_at or monotonic()
        self._life.close()

    def _has_long_been_killed(self) -> bool:
        return self._killed_at is not None and monotonic() - self._killed_at > KEEPING

    def close(self) -> None:
        self.kill()
        try:
            self._system.wait(KEEPING)
        except subprocess.TimeoutExpired:
            self._end_keeper()
        self._pipe.close()

    def _end_keeper(self) -> None:
        """A handler that stops its parent must not hold up the executor."""
        log.warning("keeper killed: it did not end the handler", extra={"step": "execute"})
        if processes.LINUX:
            processes.kill_below(self._system.pid, KEEPING)
        self._system.kill()
        self._system.wait()


def run_in_child(handler: Registered, task: Task, ctx: Context) -> Any:
    child = _a_child()
    try:
        with ctx.brake.by(child.kill):
            child.say(_order(handler, task, ctx))
            last = _serve(child, ctx)
            child.leave()
    except Gone:
        if ctx.brake.pulled:
            raise Stopped from None
        raise TargetFailed("ChildDied", _told(child.leave())) from None
    finally:
        child.close()
    if isinstance(last, Failed):
        raise FailedElsewhere(last.failure)
    return None if last.result is None else Encoded(last.result)


def _a_child() -> Child:
    """A machine that has no process to spare is no fault of the task's."""
    try:
        return Child()
    except OSError as error:
        if error.errno not in SCARCE:
            raise
        raise Snooze(SPARE_AGAIN, f"no child could be started: {error}") from None


def _order(handler: Registered, task: Task, ctx: Context) -> Order:
    return Order(
        path=list(sys.path),
        module=handler.run.__module__,
        name=handler.name,
        task=task,
        previous=ctx.previous,
        python_path=os.environ.get("PYTHONPATH"),
        logs=log_lines.installed(),
    )


def _serve(child: Child, ctx: Context) -> Succeeded | Failed:
    told = False
    while True:
        if ctx.cancelled and not told:
            told = True
            child.say(Word(stop=True, answer=False))
        match child.hear():
            case Renewal(progress=progress):
                _renew(ctx, progress)
                child.say(Word(stop=ctx.cancelled, answer=True))
            case Succeeded() | Failed() as last:
                return last


def _renew(ctx: Context, progress: Progress | None) -> None:
    if progress is None:
        ctx.heartbeat()
    else:
        ctx.progress(progress.fraction, progress.message)


def _a_pipe() -> tuple[BinaryIO, BinaryIO]:
    reads, writes = os.pipe()
    return os.fdopen(reads, "rb", 0), os.fdopen(writes, "wb", 0)


def _start(fd: int, life: int) -> subprocess.Popen[bytes]:
    # A group of its own: Ctrl-C is for the runner.
    order = [str(number) for number in (fd, life, os.getpid())]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "lambdas.executor.isolated", *order],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entry or os.curdir for entry in sys.path)},
        stdin=subprocess.DEVNULL,
        pass_fds=[fd, life],
        process_group=0,
    )


def _told(code: int | None) -> str:
    if code is None:
        return "the child stopped talking"
    if code >= 0:
        return f"the child ended with code {code} and no outcome"
    return f"the child was killed by {signal.Signals(-code).name}"
