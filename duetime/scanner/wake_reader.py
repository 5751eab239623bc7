"""What wakes around now: read in one go, fresh work apart from the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import field

from lambdas.core.times import Millis
from lambdas.core.values import value
from lambdas.core.wakes import Wake, WakeKind, minute_of
from lambdas.scanner.index import WakeIndex
from lambdas.scanner.pace import Pacer, due_at
from lambdas.scanner.window import Window

LIMIT = 50_000  # wakes of each sort that a tick takes in at once


@value(kw_only=True, slots=True)
class Near:
    """Each sort is kept apart, so that however much there is of one, it never crowds out
    another: watches find the dead executors of today while a backlog is worked off."""

    fresh: list[Wake] = field(default_factory=list)  # dispatches
    schedules: list[Wake] = field(default_factory=list)  # whose time has come
    watches: list[Wake] = field(default_factory=list)  # likewise
    overdue: list[Wake] = field(default_factory=list)  # of any kind
    left: int = 0  # not fresh, and more than a tick takes in: the next one finds it
    more: bool = False  # there may be more fresh work

    def add(self, found: Wake, sort: list[Wake]) -> None:
        if len(sort) < LIMIT:
            sort.append(found)
        else:
            self.left += 1


def read_near(
    index: WakeIndex, windows: Sequence[Window], pacer: Pacer, *, now: Millis, horizon: Millis
) -> Near:
    near = Near()
    for found in _wakes(index, windows, now):
        if pacer.overdue(due_at(found, horizon)):
            near.add(found, near.overdue)
        elif found.kind is not WakeKind.DISPATCH:
            if found.at <= now:
                near.add(found, near.watches if found.kind is WakeKind.WATCH else near.schedules)
        elif found.at <= now + horizon:
            near.fresh.append(found)
        if len(near.fresh) == LIMIT:
            near.more = True
            break
    return near


def _wakes(index: WakeIndex, windows: Sequence[Window], now: Millis) -> Iterator[Wake]:
    """Minute by minute. Watches are not read ahead of time."""
    for minute in sorted({minute for w in windows for minute in w.near}):
        kind = WakeKind.DISPATCH if minute > minute_of(now) else None
        for w in windows:
            yield from index.wakes(minute, w.shard, kind)
