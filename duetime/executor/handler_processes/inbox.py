"""What other threads post to a thread that waits in a selector."""

import os
import threading
from collections import deque
from collections.abc import Callable


class Inbox:
    """Any thread posts; one thread registers `descriptor` for reads, clears and runs. What is
    posted after `close` wakes no thread, and writes to no descriptor that was opened since."""

    def __init__(self) -> None:
        self._posted: deque[Callable[[], object]] = deque()
        self._woken = False
        self._closed = False
        self._lock = threading.Lock()
        self.descriptor, self._wake_end = os.pipe()

    def post(self, act: Callable[[], object]) -> None:
        self._posted.append(act)
        self.wake()

    def wake(self) -> None:
        with self._lock:
            if not self._woken and not self._closed:
                self._woken = True
                os.write(self._wake_end, b"\0")

    def clear(self) -> None:
        with self._lock:
            os.read(self.descriptor, 4_096)
            self._woken = False  # before what was posted is run: what comes later wakes again

    def close(self) -> None:
        """May be repeated."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self.descriptor)
                os.close(self._wake_end)

    def run(self) -> None:
        while self._posted:
            self._posted.popleft()()
