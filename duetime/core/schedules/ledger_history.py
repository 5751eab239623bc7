"""History: the ledger as rows, the newest fire time first.

A stored span is expanded here into a row for each fire time. Rows may lie within a span: those of a
backfill, and those of fire times that became tasks after all, which replace the span's. Spans can
overlap if the writer of one was cut off or late. Each fire time is returned once.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from duetime.core.recurrence.rules import BadRule
from duetime.core.schedules.fire_times import backwards
from duetime.core.schedules.ledger import Entry, LedgerPage, LedgerRow, LedgerSpan
from duetime.core.times import Millis
from duetime.core.value import value

READ_BATCH = 100  # entries
MAX_OPEN_SPANS = 20  # that overlap; a cursor names them

Read = Callable[[str | None, int], LedgerPage]  # (below this key, how many)


class Place(NamedTuple):
    """How far a ledger has been read: to below a key, and into the spans that are open there."""

    below: str | None = None
    spans: tuple[str, ...] = ()  # their keys

    def cursor(self) -> str:
        return "~".join([self.below or "", *self.spans])


def place_of(cursor: str) -> Place:
    below, *spans = cursor.split("~")
    if not all(_is_key(key) for key in (below, *spans)) or len(spans) > MAX_OPEN_SPANS:
        raise ValueError("not a cursor of this list")
    return Place(below, tuple(spans))


@value(frozen=True, slots=True)
class HistoryRow:
    row: LedgerRow
    place: Place  # where the next page starts


def history(read: Read, place: Place) -> Iterator[HistoryRow]:
    times = _Times(_spans(read, place), _read_down_to(place.below) if place.below else None)
    for entry in _entries(read, place.below):
        if isinstance(entry, LedgerSpan):
            times.add(entry)
            continue
        yield from times.down_to(entry.fire_time)
        if not entry.backfill:
            times.leave_out(entry.fire_time)
        yield HistoryRow(entry, Place(entry.key, times.keys))
    yield from times.down_to(0)


class _Times:
    """The fire times of the open spans that have not been returned."""

    def __init__(self, spans: Iterable[LedgerSpan], below: Millis | None) -> None:
        self._open: list[_Span] = []
        for span in spans:
            self.add(span, below)

    def add(self, span: LedgerSpan, below: Millis | None = None) -> None:
        if len(self._open) < MAX_OPEN_SPANS:
            self._open.append(_Span(span, span.until if below is None else below))

    @property
    def keys(self) -> tuple[str, ...]:
        self._open = [span for span in self._open if span.next is not None]
        return tuple(span.of.key for span in self._open)

    def down_to(self, at: Millis) -> Iterator[HistoryRow]:
        while (span := max(self._open, key=lambda s: s.next or 0, default=None)) is not None:
            if span.next is None or span.next <= at:
                return
            row = LedgerRow(
                schedule_id=span.of.schedule_id,
                fire_time=span.next,
                version=0,
                outcome=span.of.outcome,
            )
            self.leave_out(row.fire_time)
            yield HistoryRow(row, Place(f"{row.fire_time:013d}#1", self.keys))

    def leave_out(self, at: Millis) -> None:
        for span in self._open:
            if span.next == at:
                span.pull()


class _Span:
    def __init__(self, of: LedgerSpan, below: Millis) -> None:
        self.of = of
        self._left = backwards(of.recurrence, of.start, min(below, of.until))
        self.next: Millis | None = None
        self.pull()

    def pull(self) -> None:
        """Moves to the next fire time. A rule that cannot be evaluated ends its span, so that the
        rest of the ledger can still be read."""
        try:
            self.next = next(self._left, None)
        except BadRule:
            self.next = None


def _spans(read: Read, place: Place) -> Iterator[LedgerSpan]:
    for key in place.spans:
        for entry in read(f"{key}~", 1).entries:
            if isinstance(entry, LedgerSpan) and entry.key == key:
                yield entry


def _entries(read: Read, below: str | None) -> Iterator[Entry]:
    while True:
        page = read(below, READ_BATCH)
        yield from page.entries
        if not page.more or not page.entries:
            return
        below = page.entries[-1].key


def _read_down_to(key: str) -> Millis:
    """Returns the fire time down to which a key has been read. A backfill's row comes before the
    rule's own row of the same fire time."""
    at, _, backfill = key.partition("#1#")
    return int(at.partition("#")[0]) + bool(backfill)


def _is_key(text: str) -> bool:
    return re.fullmatch(r"[0-9]{13,15}#(0|1(#\w*)?)", text, re.ASCII) is not None
