"""The health of the local runner: its store, its scanner and its lanes."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic

from duetime.api.health import Check, Health
from duetime.core.times import SECOND
from duetime.local.event_pump import Pump
from duetime.supervised_threads import starting_threads

STORE_TIMEOUT = 2.0  # seconds


class Probe:
    """Runs a check that may hang in a thread of its own. While one call hangs, no other starts."""

    def __init__(self, check: Callable[[], object], timeout: float = STORE_TIMEOUT) -> None:
        self._check = check
        self._timeout = timeout
        self._lock = threading.Lock()
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._last_call: _Call | None = None
        with starting_threads():  # now: later the handlers may use all available threads
            threading.Thread(target=self._run, name="health", daemon=True).start()

    def reason(self) -> str | None:
        """Returns what the check has raised, or that it does not answer; None if all is well."""
        with self._lock:
            if self._last_call is None or self._last_call.done.is_set():
                self._last_call = _Call()
                self._calls.put(self._last_call)
            call = self._last_call
        if call.done.wait(self._timeout):
            return call.reason
        return f"no answer for {monotonic() - call.since:.0f} s"

    def _run(self) -> None:
        while True:
            call = self._calls.get()
            try:
                self._check()
            except Exception as error:  # noqa: BLE001 - the answer
                call.reason = str(error) or type(error).__name__
            finally:
                call.done.set()


class _Call:
    def __init__(self) -> None:
        self.since = monotonic()
        self.done = threading.Event()
        self.reason: str | None = None


class RunnerHealth:
    """`check_store` raises if the store does not work."""

    def __init__(self, check_store: Callable[[], object], pump: Pump) -> None:
        self._store = Probe(check_store)
        self._pump = pump

    def __call__(self) -> Health:
        store = Check(name="store", reason=self._store.reason())
        age = int(self._pump.tick_age * SECOND)
        return Health(checks=[store, *self._pump.checks()], tick_age=age)
