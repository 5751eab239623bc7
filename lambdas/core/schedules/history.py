"""history: the ledger read row by row, the newest fire time first.

What is stored as a span is taken apart here. Rows may lie within a span: those of a backfill, and
those of fire times that became tasks after all, which are told instead. A span begins where the
schedule stood and ends where it went on; one that was written in vain, because its writer was cut
off or came too late, lies within the next, which begins where it does.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lambdas.core.recurrence.rules import BadRule
from lambdas.core.schedules.ledger import Entry, LedgerPage, LedgerRow, LedgerSpan
from lambdas.core.schedules.times import backwards
from lambdas.core.times import Millis
from lambdas.core.values import value

AT_ONCE = 100  # entries that are read together

Read = Callable[[str | None, int], LedgerPage]  # below a key, so many


class Place(NamedTuple):
    """How far a ledger has been read: below a key, and perhaps within a span."""

    below: str | None = None
    span: str | None = None  # the key of the span

    def cursor(self) -> str:
        return self.below or "" if self.span is None else f"{self.below}~{self.span}"


def place_of(cursor: str) -> Place:
    below, _, span = cursor.partition("~")
    if not (_is_key(below) and (not span or _is_key(span))):
        raise ValueError("not a cursor of this list")
    return Place(below, span or None)


@value(frozen=True, slots=True)
class Told:
    row: LedgerRow
    place: Place  # of what comes after it


def history(read: Read, place: Place) -> Iterator[Told]:
    times = _Times.within(read, place) if place.span else _Times()
    for entry in _entries(read, place.below):
        if isinstance(entry, LedgerSpan):
            if not times.reach(entry.start):
                yield from times.down_to(0)
                times = _Times(entry, entry.until)
            continue
        yield from times.down_to(entry.fire_time)
        if not entry.backfill:
            times.leave_out(entry.fire_time)
        yield Told(entry, Place(entry.key, times.key))
    yield from times.down_to(0)


class _Times:
    """The fire times of one span that are still to be told."""

    def __init__(self, span: LedgerSpan | None = None, below: Millis = 0) -> None:
        self._span = span
        self._left = backwards(span.recurrence, span.start, below) if span else iter(())
        self._next = self._pull()

    @classmethod
    def within(cls, read: Read, place: Place) -> "_Times":
        for entry in read(f"{place.span}~", 1).entries:
            if isinstance(entry, LedgerSpan) and entry.key == place.span:
                return cls(entry, min(entry.until, _told_down_to(place.below or "")))
        return cls()

    @property
    def key(self) -> str | None:
        return self._span.key if self._span and self._next is not None else None

    def reach(self, start: Millis) -> bool:
        """Whether what is left of them goes down to there."""
        return self._span is not None and self._next is not None and self._span.start <= start

    def leave_out(self, at: Millis) -> None:
        if self._next == at:
            self._next = self._pull()

    def _pull(self) -> Millis | None:
        """None too once the rule cannot be evaluated any more; the rest of the ledger can."""
        try:
            return next(self._left, None)
        except BadRule:
            return None

    def down_to(self, at: Millis) -> Iterator[Told]:
        while self._span and self._next is not None and self._next > at:
            row = LedgerRow(
                schedule_id=self._span.schedule_id,
                fire_time=self._next,
                version=0,
                outcome=self._span.outcome,
            )
            self._next = self._pull()
            yield Told(row, Place(f"{row.fire_time:013d}#1", self.key))


def _entries(read: Read, below: str | None) -> Iterator[Entry]:
    while True:
        page = read(below, AT_ONCE)
        yield from page.entries
        if not page.more or not page.entries:
            return
        below = page.entries[-1].key


def _told_down_to(key: str) -> Millis:
    """A backfill's row is told before the fire time itself."""
    at, _, backfill = key.split("#", 2) if key.count("#") > 1 else (*key.split("#"), "")
    return int(at) + bool(backfill)


def _is_key(text: str) -> bool:
    return re.fullmatch(r"[0-9]{13,15}#(0|1(#\w*)?)", text, re.ASCII) is not None
