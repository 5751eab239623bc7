"""Whether attempts may begin: while no process has imported the handlers, they would wait for one.

Under a rate limit each attempt begins at a time of its own. Those that wait for a process would all
start when it is ready, so the worker pool leases nothing until then.
"""

import threading

from duetime.core.times import SECOND, Millis

LONGEST_IMPORT: Millis = 10 * SECOND  # then attempts begin: other targets need no process


class Readiness:
    """The thread that owns the processes calls `note` and `end`; any may call `wait`."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._waits_since: Millis | None = None

    def wait(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds. Returns whether attempts may begin."""
        return self._ready.is_set() or self._ready.wait(timeout)

    def note(self, now: Millis, *, ready: bool, expected: bool) -> None:
        """`ready` says whether a process is; `expected`, whether one will be soon."""
        if ready:
            self._waits_since = None
            self._ready.set()
            return
        if self._waits_since is None:
            self._waits_since = now
            self._ready.clear()
        if not expected or now - self._waits_since >= LONGEST_IMPORT:
            self._ready.set()

    def end(self) -> None:
        self._ready.set()
