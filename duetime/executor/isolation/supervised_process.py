"""A child process and its supervisor, as the executor starts, watches and kills them.

`python -m MODULE FD… LIFE PID` begins with `supervisor.run_supervised`, which forks: the fork goes
on, and its parent becomes the supervisor. `LIFE` is a pipe that closes when the executor kills the
child or dies, and `PID` is the executor's process id.
"""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from time import monotonic
from typing import BinaryIO

from duetime.executor.isolation import process_tree as processes

log = logging.getLogger(__name__)

SUPERVISOR_TIMEOUT = 10.0  # seconds for the supervisor to kill the child


class SupervisedProcess:
    """`pid` is that of the supervisor, which ends with the exit status of the child."""

    def __init__(self, module: str, descriptors: Sequence[int]) -> None:
        self._killed_at: float | None = None
        with ExitStack() as opened:
            life, self._life = _open_pipe()
            opened.callback(self._life.close)
            with life:
                self._process = _start(module, [*descriptors, life.fileno()])
            opened.pop_all()  # the child has started: it stays open
        self.pid = self._process.pid

    def descriptors(self) -> list[int]:
        """Returns what no other process may inherit: it would keep the child alive."""
        return [] if self._life.closed else [self._life.fileno()]

    def poll(self) -> int | None:
        """Returns the exit code; None while the process runs."""
        return self._process.poll()

    def wait(self, timeout: float) -> int | None:
        """Returns the exit code, or None if the process does not end by itself."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(timeout)
        return None

    def kill(self) -> None:
        """Have the supervisor kill the child and everything that it has started. Any thread may
        call this, and more than once."""
        self._killed_at = self._killed_at or monotonic()
        self._life.close()

    @property
    def kill_timed_out(self) -> bool:
        return self._killed_at is not None and monotonic() - self._killed_at > SUPERVISOR_TIMEOUT

    def close(self) -> None:
        self.kill()
        if self.wait(SUPERVISOR_TIMEOUT) is None:
            self.kill_supervisor()

    def kill_supervisor(self) -> None:
        """A handler may stop its parent with a signal; that must not block the executor."""
        log.warning("supervisor killed: handler not ended in time", extra={"step": "execute"})
        if processes.LINUX:
            processes.kill_below(self.pid, SUPERVISOR_TIMEOUT)
        self._process.kill()
        self._process.wait()


def how_it_ended(code: int | None, what: str = "child") -> str:
    """Returns the reason why a process ended without an outcome, from its exit code."""
    if code is None:
        return f"the {what} stopped talking"
    if code >= 0:
        return f"the {what} ended with code {code} and no outcome"
    return f"the {what} was killed by {signal.Signals(-code).name}"


def _open_pipe() -> tuple[BinaryIO, BinaryIO]:
    reads, writes = os.pipe()
    return os.fdopen(reads, "rb", 0), os.fdopen(writes, "wb", 0)


def _start(module: str, descriptors: Sequence[int]) -> subprocess.Popen[bytes]:
    # A process group of its own, so that Ctrl-C reaches the runner alone.
    arguments = [str(number) for number in (*descriptors, os.getpid())]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entry or os.curdir for entry in sys.path)},
        stdin=subprocess.DEVNULL,
        pass_fds=list(descriptors),
        process_group=0,
    )
