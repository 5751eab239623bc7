"""The ledger: what became of every fire time that was expected.

A fire time that became a task has a row, and so has one whose task could not be built. Fire times
that passed by together, in a pause or an outage, share one row that names the rule: whoever reads
the ledger has them computed, one by one.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from lambdas.core.recurrence.rules import Recurrence
from lambdas.core.retention import LEDGER
from lambdas.core.times import Millis
from lambdas.core.values import value

KEPT_FOR: Final[Millis] = LEDGER


class Expected(StrEnum):
    """What became of an expected fire time."""

    FIRED = "fired"
    SKIPPED_OVERLAP = "skipped_overlap"  # never written: its task was cancelled for that reason
    SKIPPED_MISFIRE = "skipped_misfire"
    PAUSED = "paused"
    BROKEN = "broken"


@value(frozen=True, kw_only=True, slots=True)
class LedgerRow:
    schedule_id: str
    fire_time: Millis
    version: int  # of two rows for one fire time that of the newer version stands
    outcome: Expected
    task_id: str | None = None
    backfill: str = ""  # the id of the backfill that it belongs to
    error: str | None = None

    @property
    def key(self) -> str:
        return f"{self.fire_time:013d}#1#{self.backfill}"


@value(frozen=True, kw_only=True, slots=True)
class LedgerSpan:
    """Every fire time of a recurrence from `start` to before `until`."""

    schedule_id: str
    start: Millis
    until: Millis
    outcome: Expected
    recurrence: Recurrence

    @property
    def key(self) -> str:
        """Where it stands among the rows: behind that of `until`, before all that it covers."""
        return f"{self.until:013d}#0"


Entry = LedgerRow | LedgerSpan


@value(frozen=True, kw_only=True, slots=True)
class LedgerPage:
    """As they are stored, the newest first, by their keys."""

    entries: Sequence[Entry]
    more: bool


def just_after(fire_time: Millis) -> str:
    """A key behind all rows of that fire time and the span that ends with it, and before the rows
    of any later one."""
    return f"{fire_time + 1:013d}#1"


def kept_until(entry: Entry, now: Millis) -> Millis:
    """Rows of a backfill speak of times long past, and are kept as long as any."""
    at = entry.fire_time if isinstance(entry, LedgerRow) else entry.until
    return max(at, now) + KEPT_FOR
