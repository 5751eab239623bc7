"""An isolated handler, seen from the executor: a child that runs it, and a pipe to talk by.

The pipe has a descriptor of its own, so that what the handler prints goes where it always goes.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Pipe
from typing import Any

from lambdas.core.codec import from_json
from lambdas.core.task import Progress, Task
from lambdas.executor.context import Context
from lambdas.executor.failures import FailedElsewhere
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets import TargetFailed
from lambdas.executor.wire import Failed, Order, Renewal, Succeeded, Word
from lambdas.registry import Registered

LOOK = 0.1  # seconds between two looks at whether the handler is to stop
LEAVING = 1.0  # seconds that a child gets to end by itself once it has said its last word


class Gone(Exception):
    """The child does not answer any more."""


class Child:
    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        life, self._life = os.pipe()
        try:
            with theirs:
                self._system = _start(theirs.fileno(), life)
        finally:
            os.close(life)

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
        if not alive:
            raise Gone
        return None

    def leave(self) -> int | None:
        """Let it end by itself; how it did."""
        with suppress(subprocess.TimeoutExpired):
            return self._system.wait(LEAVING)
        return None

    def kill(self) -> None:
        """With whatever it has started and left behind."""
        with suppress(ProcessLookupError, PermissionError):  # nobody is left
            os.killpg(self._system.pid, signal.SIGKILL)

    def close(self) -> None:
        self.kill()
        self._system.wait()
        self._pipe.close()
        os.close(self._life)


def run_in_child(handler: Registered, task: Task, ctx: Context) -> Any:
    child = Child()
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
    return from_json(last.result)


def _order(handler: Registered, task: Task, ctx: Context) -> Order:
    return Order(
        path=list(sys.path),
        module=handler.run.__module__,
        name=handler.name,
        task=task,
        previous=ctx.previous,
        python_path=os.environ.get("PYTHONPATH"),
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


def _start(fd: int, life: int) -> subprocess.Popen[bytes]:
    # A group of its own: Ctrl-C is for the runner, and what the handler starts ends with it.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "lambdas.executor.isolated", str(fd), str(life)],
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
