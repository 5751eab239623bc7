"""A stream whose writers never wait: a thread of its own writes the lines.

The terminal or the pipe behind a stream may take nothing for hours. The runner goes on: lines
beyond MAX_WAITING characters are dropped, and their number is logged once there is room again.
"""

import logging
import os
import threading
from collections import deque
from contextlib import suppress
from typing import Any, TextIO

log = logging.getLogger(__name__)

MAX_WAITING = 1_000_000  # characters
AT_ONCE = 64_000  # characters of one write, or one longer line
LAST_LINES = 1.0  # seconds that the last lines of a process may take


class LineWriter:
    """A text stream in the place of another one. Each `write` is a line, or several. Only a stream
    with a file descriptor can be one that takes nothing: it is written to without the locks of
    Python's own stream, for which the end of the process would wait."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"
        self._descriptor = _descriptor_of(stream)
        self._changed = threading.Condition()
        self._lines: deque[str] = deque()
        self._waiting = 0  # characters of lines that are not written yet
        self._dropped = 0
        threading.Thread(target=self._run, name="lines", daemon=True).start()

    def write(self, text: str) -> int:
        with self._changed:
            if self._waiting + len(text) > MAX_WAITING:
                self._dropped += 1
            else:
                self._lines.append(text)
                self._waiting += len(text)
                self._changed.notify_all()
        return len(text)

    def flush(self) -> None:
        """Does not wait; `drain` does."""

    def drain(self, timeout: float = LAST_LINES) -> bool:
        """Waits until every line is written. Returns whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting, timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                taken = [self._lines.popleft()]
                size = len(taken[0])
                while self._lines and size + len(self._lines[0]) <= AT_ONCE:
                    taken.append(self._lines.popleft())
                    size += len(taken[-1])
            with suppress(OSError, ValueError):  # the reader is gone
                self._write("".join(taken))
            with self._changed:
                self._waiting -= size
                dropped, self._dropped = self._dropped, 0
                self._changed.notify_all()
            if dropped:
                log.warning("log lines dropped", extra={"count": dropped})

    def _write(self, text: str) -> None:
        if self._descriptor is None or self._stream.closed:  # then it may be another file's
            self._stream.write(text)
            self._stream.flush()
            return
        left = memoryview(text.encode(self._encoding, "backslashreplace"))
        while left:
            left = left[os.write(self._descriptor, left) :]


def _descriptor_of(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # a stream in memory, or a closed one
        return None
