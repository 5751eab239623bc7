"""How the local runner is: its store, its scanner, its lanes."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic

from duetime.local.pump import Pump
from duetime.local.threads import starting_threads
from lambdas.api.health import Check, Health
from lambdas.core.times import SECOND

PATIENCE = 2.0  # seconds that the store may take to answer


class Probe:
    """Asks something that may hang, in a thread of its own. While one question hangs, no other is
    asked."""

    def __init__(self, ask: Callable[[], object], patience: float = PATIENCE) -> None:
        self._ask = ask
        self._patience = patience
        self._turn = threading.Lock()
        self._questions: SimpleQueue[_Question] = SimpleQueue()
        self._asked: _Question | None = None
        with starting_threads():  # now: later the handlers may use all threads that there are
            threading.Thread(target=self._answer_on, name="health", daemon=True).start()

    def reason(self) -> str | None:
        """What is wrong: what `ask` has raised, or that it does not answer."""
        with self._turn:
            if self._asked is None or self._asked.answered.is_set():
                self._asked = _Question()
                self._questions.put(self._asked)
            asked = self._asked
        if asked.answered.wait(self._patience):
            return asked.reason
        return f"no answer for {monotonic() - asked.since:.0f} s"

    def _answer_on(self) -> None:
        while True:
            asked = self._questions.get()
            try:
                self._ask()
            except Exception as error:  # noqa: BLE001 - it is the answer
                asked.reason = str(error) or type(error).__name__
            finally:
                asked.answered.set()


class _Question:
    def __init__(self) -> None:
        self.since = monotonic()
        self.answered = threading.Event()
        self.reason: str | None = None


class RunnerHealth:
    """`check_store` raises what is wrong with the store."""

    def __init__(self, check_store: Callable[[], object], pump: Pump) -> None:
        self._store = Probe(check_store)
        self._pump = pump

    def __call__(self) -> Health:
        store = Check(name="store", reason=self._store.reason())
        age = int(self._pump.tick_age * SECOND)
        return Health(checks=[store, *self._pump.checks()], tick_age=age)
