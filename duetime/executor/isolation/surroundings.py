"""What an attempt can change of its process, besides memory, and what cannot be set back safely."""

import _signal  # type: ignore[import-not-found]  # typeshed has it as `signal` alone
import logging
import os
import resource
import signal
import sys
import threading
from time import monotonic, sleep
from typing import Any

MEMORY_GROWTH = 64 * 1024 * 1024  # bytes, since the process was ready for its first attempt
THREADS_END_WITHIN = 0.05  # seconds that the kernel has to end a thread that Python has joined
LOOK_EVERY = 0.001  # seconds

STATUS_SIZE = 64 * 1024  # bytes: more than the file has

# Of memory and threads; then of a user or group that the handler has become, and of the signals
# that its thread blocks.
_LINES = (b"VmRSS", b"Threads", b"Umask", b"Uid", b"Gid", b"Groups", b"SigBlk")
_places: list[int] = []
_SIGNALS = sorted(int(number) for number in signal.valid_signals())
_LIMITS = sorted({number for name, number in vars(resource).items() if name.startswith("RLIMIT_")})
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_STREAMS = (0, 1, 2)


class Surroundings:
    """Those of this process at one moment. Raises OSError if they cannot be read, as without a
    working directory, and ValueError if the kernel does not tell all of them."""

    def __init__(self) -> None:
        self._status = _Status()
        self._settings = _settings()
        self._threads = threading.active_count()

    def are_unchanged(self) -> bool:
        """Whether another attempt would find them as they were. Raises OSError."""
        status = _Status()
        return (
            status.memory - self._status.memory <= MEMORY_GROWTH
            and status.settings == self._status.settings
            and self._settings == _settings()
            and self._has_no_more_threads(status)
        )

    def _has_no_more_threads(self, status: "_Status") -> bool:
        give_up = monotonic() + THREADS_END_WITHIN
        while status.threads > self._status.threads:
            if threading.active_count() > self._threads or monotonic() > give_up:
                return False
            sleep(LOOK_EVERY)
            status = _Status()
        return True


class _Status:
    """What the kernel says of this process in one file: to read one takes longer than all system
    calls below. Raises OSError.

    The umask is here because os.umask can only be read by setting it, for all threads. `memory` is
    in bytes, and `threads` counts also those that Python has not started."""

    def __init__(self) -> None:
        file = os.open("/proc/self/status", os.O_RDONLY)
        try:
            text = os.read(file, STATUS_SIZE)
        finally:
            os.close(file)
        lines = text.split(b"\n")
        memory, threads, *settings = _line_numbers(lines)
        self.memory = int(lines[memory].split()[1]) * 1024
        self.threads = int(lines[threads].split()[1])
        self.settings = [lines[number] for number in settings]


def _line_numbers(lines: list[bytes]) -> list[int]:
    """Returns where _LINES are: in every file of this kernel at the same place."""
    if not _places:
        names = [line.partition(b":")[0] for line in lines]
        _places.extend([names.index(name) for name in _LINES])
    return _places


def _settings() -> list[Any]:
    environment = getattr(os.environ, "_data", os.environ)  # not decoded
    return [
        os.getcwd(),
        os.environ.__class__,
        dict(environment),
        tuple(sys.path),
        [_signal.getsignal(number) for number in _SIGNALS],  # without making enums
        [signal.getitimer(timer) == (0.0, 0.0) for timer in _TIMERS],
        [resource.getrlimit(number) for number in _LIMITS],
        (os.getpgid(0), os.getsid(0), os.getpriority(os.PRIO_PROCESS, 0)),
        [_file(number) for number in _STREAMS],
        (sys.stdout, sys.stderr),
        list(logging.root.handlers),
        logging.root.level,
    ]


def _file(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino
