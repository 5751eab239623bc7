"""A template of isolated handlers, and one attempt in a fork of it, as the executor sees them."""

import os
import pickle
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection, Pipe
from time import monotonic
from typing import Any

from duetime.executor.isolation.protocol import ENDED, MESSAGE, RunRequest, Setup, StopNotice
from duetime.executor.isolation.supervised_process import SupervisedProcess
from duetime.forks import keep_from_children
from duetime.handlers import sources
from duetime.logs import formatting as log_lines

MODULE = "duetime.executor.isolation"
POLL_INTERVAL = 0.1  # seconds between two checks whether the handler should stop
EXIT_TIMEOUT = 1.0  # seconds for a fork to end by itself after it has sent its outcome
CLEAN_UP_TIMEOUT = 6.0  # seconds for the template to end what a fork has left behind


class ChildGone(Exception):
    """Raised when the child no longer answers."""


class Template:
    """A process, which lives for many attempts. It runs one at a time."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self.sources = sources.kept()
        self.used_at = monotonic()
        self.usable = True
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
        )
        try:
            self._control.sendall(pickle.dumps(setup))
        except OSError:
            self.usable = False

    def descriptors(self) -> list[int]:
        ends = [self._control.fileno()] if self._control.fileno() >= 0 else []
        return [*ends, *self.process.descriptors()]

    def fork(self) -> "Fork":
        """Raises ChildGone."""
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
        self.usable = False
        self.process.close()
        self._control.close()


class Fork:
    """One attempt."""

    def __init__(self, template: Template, pipe: "Connection[Any, Any]") -> None:
        self._template = template
        self._pipe = pipe
        keep_from_children(self)

    def descriptors(self) -> list[int]:
        return [] if self._pipe.closed else [self._pipe.fileno()]

    def send(self, message: RunRequest | StopNotice) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            raise ChildGone from None

    def receive(self) -> Any:
        """Returns None if no message comes for POLL_INTERVAL."""
        try:
            # A fork of the handler may hold the other end of the pipe, so EOF is not enough.
            ended = self._template.process.poll() is not None or self._ended()
            if self._pipe.poll(0 if ended else POLL_INTERVAL):
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

    def close(self) -> None:
        """A template whose fork has not ended is not used again."""
        self._pipe.close()
        try:
            if self._template.wait_for_end(0) is None:
                self._template.usable = False
        except ChildGone:
            pass
