"""What other threads post to a thread that waits in a selector."""

import os
from collections import deque
from collections.abc import Callable


class Inbox:
    """Any thread posts; one thread registers `descriptor` for reads, clears and runs."""

    def __init__(self) -> None:
        self._posted: deque[Callable[[], object]] = deque()
        self._woken = False
        self.descriptor, self._wake_end = os.pipe()

    def post(self, act: Callable[[], object]) -> None:
        self._posted.append(act)
        self.wake()

    def wake(self) -> None:
        if not self._woken:
            self._woken = True
            os.write(self._wake_end, b"\0")

    def clear(self) -> None:
        os.read(self.descriptor, 4_096)
        self._woken = False  # before what was posted is read: what comes later wakes again

    def run(self) -> None:
        while self._posted:
            self._posted.popleft()()
