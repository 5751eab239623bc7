"""What wakes around now: read in one go, fresh work apart from the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lambdas.core.ports import TaskStore
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake, WakeKind, minute_of
from lambdas.scanner.pace import Pacer
from lambdas.scanner.window import Window

LIMIT = 50_000  # wakes of each sort that a tick takes in at once


@dataclass(kw_only=True, slots=True)
class Near:
    """`late` is whatever has been waiting: overdue work, and watches whose time has come. It is
    kept apart so that, however much of it there is, it never crowds out what is fresh."""

    fresh: list[Wake] = field(default_factory=list)
    late: list[Wake] = field(default_factory=list)
    left: int = 0  # late, and more than a tick takes in: the next one finds it
    more: bool = False  # there may be more fresh work

    def add_late(self, found: Wake) -> None:
        if len(self.late) < LIMIT:
            self.late.append(found)
        else:
            self.left += 1


def read_near(
    store: TaskStore, windows: Sequence[Window], pacer: Pacer, *, now: Millis, horizon: Millis
) -> Near:
    near = Near()
    for found in _wakes(store, windows, now):
        if found.kind is WakeKind.WATCH or pacer.overdue(found.at):
            if found.at <= now:
                near.add_late(found)
        elif found.at <= now + horizon:
            near.fresh.append(found)
        if len(near.fresh) == LIMIT:
            near.more = True
            break
    return near


def _wakes(store: TaskStore, windows: Sequence[Window], now: Millis) -> Iterator[Wake]:
    """Minute by minute. Watches are not read ahead of time."""
    for minute in sorted({minute for w in windows for minute in w.near}):
        kind = WakeKind.DISPATCH if minute > minute_of(now) else None
        for w in windows:
            yield from store.wakes(minute, w.shard, kind)
