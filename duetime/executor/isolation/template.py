"""A template of isolated handlers, and a fork of it that runs them, as the executor sees them."""

import os
import pickle
import select
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import ForkingPickler
from time import monotonic
from typing import Any

from duetime.executor.isolation.protocol import ENDED, MESSAGE, RunRequest, Setup, StopNotice
from duetime.executor.isolation.supervised_process import SupervisedProcess
from duetime.forks import keep_from_children
from duetime.handlers import sources
from duetime.logs import formatting as log_lines

MODULE = "duetime.executor.isolation"
POLL_INTERVAL = 100  # milliseconds between two checks whether the handler should stop
IDLE_TIMEOUT = 10.0  # seconds that a fork waits for its next attempt
EXIT_TIMEOUT = 1.0  # seconds for a fork to end by itself after it has sent its outcome
CLEAN_UP_TIMEOUT = 6.0  # seconds for the template to end what a fork has left behind


def as_bytes(message: RunRequest | StopNotice) -> memoryview:
    """Returns what a fork receives as this message."""
    return memoryview(ForkingPickler.dumps(message))


class ChildGone(Exception):
    """Raised when the child no longer answers."""


class Template:
    """A process, which lives for many attempts. It has one fork at a time, which runs one attempt
    at a time. `kept` is the fork that waits for its next attempt."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self.sources = sources.kept()
        self.used_at = monotonic()
        self.usable = True
        self.kept: Fork | None = None
        self._status: int | None = None  # of the fork that has ended
        with ExitStack() as opened:
            self._control, theirs = socket.socketpair()
            opened.callback(self._control.close)
            with theirs:
                self.process = SupervisedProcess(MODULE, [theirs.fileno()])
            opened.pop_all()
        keep_from_children(self)
        self._send_setup(modules)

    def _send_setup(self, modules: Sequence[str]) -> None:
        setup = Setup(
            path=list(sys.path),
            python_path=os.environ.get("PYTHONPATH"),
            sources=self.sources,
            logs=log_lines.installed(),
            modules=tuple(modules),
            idle_timeout=IDLE_TIMEOUT,
        )
        try:
            self._control.sendall(pickle.dumps(setup))
        except OSError:
            self.usable = False

    def control(self) -> list[int]:
        """Returns the descriptor over which the template says that its fork has ended."""
        return [self._control.fileno()] if self._control.fileno() >= 0 else []

    def descriptors(self) -> list[int]:
        return [*self.control(), *self.process.descriptors()]

    def take_fork(self, *, fresh: bool) -> "Fork | None":
        """Returns the fork that waits for an attempt, or a new one if there is none, if it has
        ended, or if the attempt needs a `fresh` one. None if the template cannot be used. Raises
        ChildGone."""
        fork, self.kept = self.kept, None
        if fork is not None:
            if not fresh and self.wait_for_end(0) is None:
                return fork
            fork.dismiss()
        return self.fork() if self.usable else None

    def fork(self) -> "Fork":
        """Raises ChildGone. There must be no other fork."""
        ours, theirs = Pipe()
        try:
            with theirs:
                socket.send_fds(self._control, [MESSAGE], [theirs.fileno()])
        except OSError:
            ours.close()
            self.usable = False
            raise ChildGone from None
        self._status = None
        return Fork(self, ours)

    def wait_for_end(self, timeout: float) -> int | None:
        """Returns the wait status of the fork; None if it has not ended. Raises ChildGone if the
        template has."""
        if self._status is None:
            self._control.settimeout(timeout)
            try:
                data = self._control.recv(ENDED.size)
            except (TimeoutError, BlockingIOError):
                return None
            except OSError:
                data = b""
            finally:
                self._control.settimeout(None)
            if not data:
                self.usable = False
                raise ChildGone
            (self._status,) = ENDED.unpack(data)
        return self._status

    def kill(self) -> None:
        """End the template with its fork and everything that this has started. Any thread may call
        this, and more than once."""
        self.usable = False
        self.process.kill()

    def close(self) -> None:
        """End the template. A fork that waits for an attempt ends by itself, if it does so soon."""
        if self.kept is not None:
            fork, self.kept = self.kept, None
            fork.dismiss()
        self.usable = False
        self.process.close()
        self._control.close()


class Fork:
    """A process that runs attempts, one after another."""

    def __init__(self, template: Template, pipe: "Connection[Any, Any]") -> None:
        self._template = template
        self._pipe = pipe
        self._arrivals = select.poll()
        for end in (pipe.fileno(), *template.control()):
            self._arrivals.register(end, select.POLLIN)
        keep_from_children(self)

    def descriptors(self) -> list[int]:
        return [] if self._pipe.closed else [self._pipe.fileno()]

    def send(self, message: RunRequest | StopNotice) -> None:
        """The last messages of a fork that has ended can still be received."""
        self.send_bytes(as_bytes(message))

    def send_bytes(self, data: "memoryview") -> None:
        """As above, for a message that is made already."""
        with suppress(OSError):  # `receive` finds out why
            self._pipe.send_bytes(data)

    def receive(self) -> Any:
        """Returns None if no message comes for POLL_INTERVAL."""
        try:
            if any(end == self._pipe.fileno() for end, _ in self._arrivals.poll(POLL_INTERVAL)):
                return self._pipe.recv()
            # A fork of the handler may hold the other end of the pipe, so EOF is not enough.
            ended = self._template.process.poll() is not None or self._ended()
            if ended and self._pipe.poll(0):
                return self._pipe.recv()
        except (EOFError, OSError):
            raise ChildGone from None
        if ended or self._template.process.kill_timed_out:
            raise ChildGone
        return None

    def _ended(self) -> bool:
        return self._template.wait_for_end(0) is not None

    def exit_code(self) -> int | None:
        """Returns how the fork has ended, or its template; None if neither does by itself."""
        try:
            status = self._template.wait_for_end(EXIT_TIMEOUT)
        except ChildGone:
            return self._template.process.wait(EXIT_TIMEOUT)
        return None if status is None else os.waitstatus_to_exitcode(status)

    def dismiss(self) -> None:
        """End a fork that waits for an attempt. A template whose fork has not ended soon is not
        used again."""
        self._pipe.close()
        self.exit_code()
        self.close()

    def close(self) -> None:
        """A template whose fork has not ended is not used again."""
        self._pipe.close()
        try:
            if self._template.wait_for_end(0) is None:
                self._template.usable = False
        except ChildGone:
            pass
