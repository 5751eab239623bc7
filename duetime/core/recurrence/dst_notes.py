"""Notes on daylight saving: which fire times it shifts, skips or repeats, and when."""

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Literal

from duetime.core.recurrence.describe import listed
from duetime.core.recurrence.rules import CronRule, DstGap, DstOverlap, Recurrence
from duetime.core.times import DAY, SECOND, Millis, to_datetime
from duetime.core.value import value

if TYPE_CHECKING:
    from duetime.core.recurrence.cron import Cron

Kind = Literal["shifted", "skipped", "first_of_two", "last_of_two", "repeated"]

MAX_LISTED = 4  # local times of one clock change that are listed one by one
MAX_COUNTED = 1_000  # local times of one clock change


@value(frozen=True, kw_only=True, slots=True)
class DstNote:
    """One effect of a clock change on a recurrence."""

    at: Millis  # the fire time; for `skipped`, when the clock jumps over it
    kind: Kind
    note: str


def find_dst_notes(recurrence: Recurrence, after: Millis, until: Millis) -> list[DstNote]:
    """Returns the notes strictly after one instant, up to and including another."""
    from duetime.core.recurrence.cron import cron
    from duetime.core.recurrence.exclusions import compile_exclusion

    exclusions = [compile_exclusion(exclusion) for exclusion in recurrence.exclude]
    found = [
        note
        for rule in recurrence.rules
        if isinstance(rule, CronRule)
        for note in _notes_of(cron(rule), after, until)
        if after < note.at <= until
        and all(exclusion.until(note.at) == note.at for exclusion in exclusions)
    ]
    return sorted(found, key=lambda note: note.at)


def _notes_of(cron: "Cron", after: Millis, until: Millis) -> Iterator[DstNote]:
    """Yields the notes of each clock change. It starts a day early, since the first of two equal
    local times comes before the change."""
    from duetime.core.recurrence.timezones import stretch

    now = stretch(cron.zone, (after - DAY) // SECOND)
    while now.end <= (until + DAY) // SECOND:
        then = stretch(cron.zone, now.end)
        if then.offset > now.offset:
            yield from _gap(cron, now.end, now.offset, then.offset)
        elif then.offset < now.offset:
            yield from _overlap(cron, now.end, now.offset, then.offset)
        now = then


def _gap(cron: "Cron", change: int, before: int, after: int) -> Iterator[DstNote]:
    missing = _local_times(cron, change + before, change + after)
    if not missing:
        return
    verb = "does" if len(missing) == 1 else "do"
    note = f"{_clocks(missing)} {verb} not exist in {cron.zone} on {_date(missing[0])}"
    if cron.gap is DstGap.SKIP:
        yield DstNote(at=change * SECOND, kind="skipped", note=f"{note}; left out")
        return
    runs = _clock(change + after)
    if _date(change + after) != _date(missing[0]):
        runs += f" on {_date(change + after)}"
    yield DstNote(at=change * SECOND, kind="shifted", note=f"{note}; runs at {runs}")


_TWICE: dict[DstOverlap, tuple[Kind, str]] = {
    DstOverlap.FIRST: ("first_of_two", "runs the first time only"),
    DstOverlap.LAST: ("last_of_two", "runs the second time only"),
    DstOverlap.BOTH: ("repeated", "runs both times"),
}


def _overlap(cron: "Cron", change: int, before: int, after: int) -> Iterator[DstNote]:
    twice = _local_times(cron, change + after, change + before)
    kind, outcome = _TWICE[cron.overlap]
    offset = before if cron.overlap is DstOverlap.FIRST else after
    for some in [[local] for local in twice] if len(twice) <= MAX_LISTED else [twice]:
        verb = "comes" if len(some) == 1 else "come"
        note = f"{_clocks(some)} {verb} twice in {cron.zone} on {_date(some[0])}; {outcome}"
        yield DstNote(at=(some[0] - offset) * SECOND, kind=kind, note=note)


def _local_times(cron: "Cron", start: int, end: int) -> list[int]:
    def following() -> Iterator[int]:
        local = cron.pattern.first(start)
        while local is not None:
            yield local
            local = cron.pattern.first(local + 1)

    return list(takewhile(lambda local: local < end, islice(following(), MAX_COUNTED)))


def _clocks(local: list[int]) -> str:
    if len(local) <= MAX_LISTED:
        return listed([_clock(at) for at in local])
    count = f"{len(local)}" if len(local) < MAX_COUNTED else f"{MAX_COUNTED:,} or more"
    return f"{_clock(local[0])} to {_clock(local[-1])} ({count} times)"


def _clock(local: int) -> str:
    at = to_datetime(local * SECOND)
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def _date(local: int) -> str:
    return f"{to_datetime(local * SECOND):%Y-%m-%d}"
