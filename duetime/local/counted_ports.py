"""What the local runner counts at its stores: what became of fire times, and waits for limits."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from duetime.core.change import Unknown
from duetime.core.events import StatusChange
from duetime.core.lifecycle import Status
from duetime.core.limits.ports import RateStore
from duetime.core.limits.rate import SlotRequest
from duetime.core.limits.slots import Line, Place, SlotStore
from duetime.core.ports import Ports
from duetime.core.recurrence.rules import BadRule
from duetime.core.schedules.fire_times import backwards
from duetime.core.schedules.ledger import NEVER_RAN, Entry, LedgerOutcome, LedgerSpan
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.times import Millis
from duetime.core.value import replace
from duetime.executor.rate_gate import SHORT_WAIT

MAX_OF_SPAN = 1_000  # fire times of one span that are counted
DECISIVE = frozenset({Status.RUNNING, Status.CANCELLED})


class PortCounts:
    """A sink of the relay, and the stores that it counts at. It counts since the start, from any
    thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ledger: Counter[LedgerOutcome] = Counter()
        self._deferred: Counter[str] = Counter()

    def counted(self, ports: Ports) -> Ports:
        """Returns the same ports, whose writes are counted."""
        schedules = _Counted(ports.schedules, write_ledger=self._after_ledger)
        slots = ports.slots and _Counted(ports.slots, join=self._after_join)
        rates = ports.rates and _Counted(ports.rates, reserve=self._after_reserve)
        return replace(
            ports,
            schedules=cast(ScheduleStore, schedules),
            slots=cast(SlotStore | None, slots),
            rates=cast(RateStore | None, rates),
        )

    def notify(self, change: StatusChange) -> None:
        self.notify_all([change])

    def notify_all(self, changes: Sequence[StatusChange]) -> None:
        """Counts each fire time whose run has started, or was cancelled before it could. A pause
        cancels the runs that were created ahead; they are counted even if it is short."""
        found = [_outcome_of(change) for change in changes if change.after in DECISIVE]
        if known := [outcome for outcome in found if outcome is not None]:
            self._add(self._ledger, known)

    @property
    def ledger(self) -> Mapping[LedgerOutcome, int]:
        with self._lock:
            return {outcome: self._ledger[outcome] for outcome in LedgerOutcome}

    @property
    def deferred(self) -> Mapping[str, int]:
        """How often tasks had to wait for a limit, by its name."""
        with self._lock:
            return dict(self._deferred)

    def _after_ledger(self, _: None, entries: Sequence[Entry], now: Millis) -> None:  # noqa: ARG002
        """Counts the fire times without a run; a run counts when it starts or is cancelled."""
        for entry in entries:
            if isinstance(entry, LedgerSpan):
                self._add(self._ledger, [entry.outcome] * _fire_times_of(entry))
            elif entry.task_id is None:
                self._add(self._ledger, [entry.outcome])

    def _after_join(self, _: None, places: Sequence[tuple[Line, Place]]) -> None:
        self._add(self._deferred, [line.limit for line, _ in places if line.limit is not None])

    def _after_reserve(
        self, answers: list[Sequence[Millis] | Unknown], requests: Sequence[SlotRequest]
    ) -> None:
        for request, answer in zip(requests, answers, strict=True):
            if request.at_once or isinstance(answer, Unknown):
                continue  # such a task does not wait
            later = sum(slot > request.asked_at + SHORT_WAIT for slot in answer)
            self._add(self._deferred, [request.key.name] * later)

    def _add(self, counts: Counter[Any], names: Iterable[Any]) -> None:
        with self._lock:
            counts.update(names)


def _outcome_of(change: StatusChange) -> LedgerOutcome | None:
    """Returns None if the change does not say what became of a fire time."""
    if change.occurrence_of is None:
        return None
    if change.after is Status.RUNNING:
        return LedgerOutcome.FIRED if change.attempt == 1 else None
    return NEVER_RAN.get(change.reason) if change.attempt == 0 else None


class _Counted:
    """A store; `after` is called with the answer and the arguments of the method that it names."""

    def __init__(self, store: object, **after: Callable[..., None]) -> None:
        self._store = store
        self._after = after

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        after = self._after.get(name)
        if after is None:
            return method

        def counted(*given: Any) -> Any:
            answer = method(*given)
            after(answer, *given)
            return answer

        return counted


def _fire_times_of(span: LedgerSpan) -> int:
    try:
        times = backwards(span.recurrence, span.start, span.until)
        return sum(1 for _ in islice(times, MAX_OF_SPAN))
    except BadRule:  # the time zone of its rule is gone
        return 0
