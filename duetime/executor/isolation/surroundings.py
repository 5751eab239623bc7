"""What an attempt can change of its process, besides memory, and what cannot be set back safely."""

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

_SIGNALS = sorted(signal.valid_signals())
_LIMITS = sorted({number for name, number in vars(resource).items() if name.startswith("RLIMIT_")})
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_STREAMS = (0, 1, 2)


class Surroundings:
    """Those of this process at one moment. Raises OSError if they cannot be read, as without a
    working directory."""

    def __init__(self) -> None:
        self._settings = _settings()
        self._threads = threading.active_count()
        self._kernel_threads = _kernel_threads()
        self._memory = _memory()

    def are_unchanged(self) -> bool:
        """Whether another attempt would find them as they were. Raises OSError."""
        return (
            _memory() - self._memory <= MEMORY_GROWTH
            and self._settings == _settings()
            and self._has_no_more_threads()
        )

    def _has_no_more_threads(self) -> bool:
        give_up = monotonic() + THREADS_END_WITHIN
        while _kernel_threads() > self._kernel_threads:
            if threading.active_count() > self._threads or monotonic() > give_up:
                return False
            sleep(LOOK_EVERY)
        return True


def _settings() -> list[Any]:
    return [
        _umask(),
        os.getcwd(),
        dict(os.environ),
        tuple(sys.path),
        [signal.getsignal(number) for number in _SIGNALS],
        signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        [signal.getitimer(timer) == (0.0, 0.0) for timer in _TIMERS],
        [resource.getrlimit(number) for number in _LIMITS],
        (os.getuid(), os.geteuid(), os.getgid(), os.getegid(), os.getgroups()),
        (os.getpgid(0), os.getsid(0), os.getpriority(os.PRIO_PROCESS, 0)),
        [_file(number) for number in _STREAMS],
        (sys.stdout, sys.stderr),
        list(logging.root.handlers),
        logging.root.level,
    ]


def _umask() -> bytes:
    """Not with os.umask, which can only be read by setting it, for all threads. Raises OSError."""
    with open("/proc/self/status", "rb") as file:
        return next((line for line in file if line.startswith(b"Umask:")), b"")


def _file(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _kernel_threads() -> int:
    """Also those that Python has not started. Raises OSError."""
    return len(os.listdir("/proc/self/task"))


def _memory() -> int:
    """Returns the bytes of this process that are in memory. Raises OSError."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
