"""What daylight saving does to the fire times of a span: in words, before it happens."""

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Literal

from lambdas.core.recurrence.rules import CronRule, Gap, Overlap, Recurrence
from lambdas.core.recurrence.words import listed
from lambdas.core.times import DAY, SECOND, Millis, to_datetime
from lambdas.core.values import value

if TYPE_CHECKING:
    from lambdas.core.recurrence.cron import Cron

Kind = Literal["shifted", "skipped", "first_of_two", "last_of_two", "repeated"]

MOST = 4  # local times of one change of the clock that are told one by one
COUNTED = 1_000


@value(frozen=True, kw_only=True, slots=True)
class Touch:
    at: Millis  # the fire time; for `skipped`, when the clock passes over it
    kind: Kind
    note: str


def touched(recurrence: Recurrence, after: Millis, until: Millis) -> list[Touch]:
    """Strictly after one instant, up to and with another."""
    from lambdas.core.recurrence.cron import cron
    from lambdas.core.recurrence.exclusions import left_out

    exclusions = [left_out(exclusion) for exclusion in recurrence.exclude]
    found = [
        touch
        for rule in recurrence.rules
        if isinstance(rule, CronRule)
        for touch in _of_one(cron(rule), after, until)
        if after < touch.at <= until
        and all(exclusion.until(touch.at) == touch.at for exclusion in exclusions)
    ]
    return sorted(found, key=lambda touch: touch.at)


def _of_one(cron: "Cron", after: Millis, until: Millis) -> Iterator[Touch]:
    """For each change of the clock, with a day to spare: the first pass comes before it."""
    from lambdas.core.recurrence.zones import stretch

    now = stretch(cron.zone, (after - DAY) // SECOND)
    while now.end <= (until + DAY) // SECOND:
        then = stretch(cron.zone, now.end)
        if then.offset > now.offset:
            yield from _gap(cron, now.end, now.offset, then.offset)
        elif then.offset < now.offset:
            yield from _overlap(cron, now.end, now.offset, then.offset)
        now = then


def _gap(cron: "Cron", change: int, before: int, after: int) -> Iterator[Touch]:
    missing = _local_times(cron, change + before, change + after)
    if not missing:
        return
    verb = "does" if len(missing) == 1 else "do"
    note = f"{_clocks(missing)} {verb} not exist in {cron.zone} on {_date(missing[0])}"
    if cron.gap is Gap.SKIP:
        yield Touch(at=change * SECOND, kind="skipped", note=f"{note}; left out")
        return
    runs = _clock(change + after)
    if _date(change + after) != _date(missing[0]):
        runs += f" on {_date(change + after)}"
    yield Touch(at=change * SECOND, kind="shifted", note=f"{note}; runs at {runs}")


_TWICE: dict[Overlap, tuple[Kind, str]] = {
    Overlap.FIRST: ("first_of_two", "runs the first time only"),
    Overlap.LAST: ("last_of_two", "runs the second time only"),
    Overlap.BOTH: ("repeated", "runs both times"),
}


def _overlap(cron: "Cron", change: int, before: int, after: int) -> Iterator[Touch]:
    twice = _local_times(cron, change + after, change + before)
    kind, outcome = _TWICE[cron.overlap]
    offset = before if cron.overlap is Overlap.FIRST else after
    for some in [[local] for local in twice] if len(twice) <= MOST else [twice]:
        verb = "comes" if len(some) == 1 else "come"
        note = f"{_clocks(some)} {verb} twice in {cron.zone} on {_date(some[0])}; {outcome}"
        yield Touch(at=(some[0] - offset) * SECOND, kind=kind, note=note)


def _local_times(cron: "Cron", start: int, end: int) -> list[int]:
    def following() -> Iterator[int]:
        local = cron.pattern.first(start)
        while local is not None:
            yield local
            local = cron.pattern.first(local + 1)

    return list(takewhile(lambda local: local < end, islice(following(), COUNTED)))


def _clocks(local: list[int]) -> str:
    if len(local) <= MOST:
        return listed([_clock(at) for at in local])
    count = f"{len(local)}" if len(local) < COUNTED else f"{COUNTED:,} or more"
    return f"{_clock(local[0])} to {_clock(local[-1])} ({count} times)"


def _clock(local: int) -> str:
    at = to_datetime(local * SECOND)
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def _date(local: int) -> str:
    return f"{to_datetime(local * SECOND):%Y-%m-%d}"
