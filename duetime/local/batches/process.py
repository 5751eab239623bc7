"""The process that reads batches, as the runner sees it."""

import logging
import marshal
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from struct import pack as packed
from threading import Lock, Thread
from time import monotonic
from typing import Any

from duetime.forks import keep_from_children
from duetime.local.batches.protocol import ReadBatch, Setup, receive, send, socket_pair, unpack

MODULE = "duetime.local.batches"
LEAST, MOST = 2_000, 256 * 1024  # bytes of a batch that is worth the way, and that surely fits
TIMEOUT = 10  # seconds, for one batch; it takes milliseconds
RESTART_PAUSE = 30.0  # seconds after the process has ended by itself, or could not start

log = logging.getLogger(__name__)


class BatchProcess:
    """Starts with the first batch that is large enough; until it is ready, it reads nothing. One
    that has ended by itself is replaced. Any thread may call every method.

    Args:
        setup: What the process knows.
        handlers: Returns the handlers, with the defaults of their tasks."""

    def __init__(self, setup: Setup, handlers: Callable[[], Mapping[str, Any]]) -> None:
        self._setup = setup
        self._handlers = handlers
        self._sent: Mapping[str, Any] | None = None  # the handlers that the process knows
        self._lock = Lock()  # of the conversation
        self._pipe: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at: float | None = 0.0  # None: it is starting, has started, or is closed
        keep_from_children(self)

    def descriptors(self) -> list[int]:
        pipe = self._pipe
        return [] if pipe is None or pipe.fileno() < 0 else [pipe.fileno()]

    def read(self, body: bytes) -> ReadBatch | None:
        """Returns None for a batch that the runner has to read itself."""
        if not LEAST <= len(body) <= MOST:
            return None
        if self._pipe is None:
            self._start_once()
            return None
        with self._lock:
            if (pipe := self._pipe) is None:
                return None
            try:
                known = self._handlers()
                changed = None if known == self._sent else pickle.dumps(known)
                send(pipe, marshal.dumps((body, changed)))
                self._sent = known
                data = receive(pipe)
            except (OSError, EOFError) as error:
                log.warning("batch process ended: %r", error, extra={"step": "submit"})
                self._end(monotonic() + RESTART_PAUSE)
                return None
        return unpack(data)

    def close(self) -> None:
        with self._lock:
            self._end(None)

    def _start_once(self) -> None:
        """Starts the process in the background."""
        with self._lock:
            if self._start_at is None or monotonic() < self._start_at:
                return
            self._start_at = None
        try:
            Thread(target=self.start, name="batch-process", daemon=True).start()
        except RuntimeError as error:  # no more threads
            self._failed(error)

    def start(self) -> None:
        """Starts the process, and waits until it is ready."""
        ours, theirs = socket_pair()
        try:
            with theirs:
                process = _started(theirs)
            # Not `settimeout`: that would make every call of `recv` return early.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, packed("ll", TIMEOUT, 0))
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, packed("ll", TIMEOUT, 0))
            send(ours, pickle.dumps(self._setup))
            receive(ours)
        except (OSError, EOFError) as error:
            ours.close()
            self._failed(error)
            return
        with self._lock:
            self._sent, self._process, self._pipe = None, process, ours

    def _failed(self, error: Exception) -> None:
        log.warning("batch process not started: %r", error, extra={"step": "submit"})
        self._start_at = monotonic() + RESTART_PAUSE

    def _end(self, start_at: float | None) -> None:
        """The process ends when its pipe is closed; one that hangs is killed."""
        self._start_at = start_at
        pipe, self._pipe = self._pipe, None
        process, self._process = self._process, None
        if pipe is None or process is None:
            return
        pipe.close()
        process.kill()
        process.wait()


def _started(pipe: socket.socket) -> subprocess.Popen[bytes]:
    """A process group of its own, so that Ctrl-C reaches the runner alone."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", MODULE, str(pipe.fileno())],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entry or os.curdir for entry in sys.path)},
        stdin=subprocess.DEVNULL,
        pass_fds=[pipe.fileno()],
        process_group=0,
    )
