"""The ledger: what happened to every expected fire time.

A fire time that became a task has a row, and so has one whose task could not be built. Fire times
that were skipped together, in a pause or an outage, share one entry with the rule, and are computed
one by one when the ledger is read.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from duetime.core.recurrence.rules import Recurrence
from duetime.core.retention import LEDGER_RETENTION
from duetime.core.schedules.start_decisions import MISFIRE, OVERLAP, PAUSED
from duetime.core.times import Millis
from duetime.core.value import value


class LedgerOutcome(StrEnum):
    """What happened to an expected fire time."""

    FIRED = "fired"
    SKIPPED_OVERLAP = "skipped_overlap"  # never stored: read from its cancelled task
    SKIPPED_MISFIRE = "skipped_misfire"
    PAUSED = "paused"
    BROKEN = "broken"


# Of a run that was cancelled before it started, by the reason of its task.
NEVER_RAN: Mapping[str | None, LedgerOutcome] = {
    OVERLAP: LedgerOutcome.SKIPPED_OVERLAP,
    MISFIRE: LedgerOutcome.SKIPPED_MISFIRE,
    PAUSED: LedgerOutcome.PAUSED,
}


@value(frozen=True, kw_only=True, slots=True)
class LedgerRow:
    schedule_id: str
    fire_time: Millis
    version: int  # of two rows for one fire time the newer version is kept
    outcome: LedgerOutcome
    task_id: str | None = None
    backfill: str = ""  # the id of its backfill; empty: the rule's own fire time
    error: str | None = None

    @property
    def key(self) -> str:
        return f"{self.fire_time:013d}#1#{self.backfill}"


@value(frozen=True, kw_only=True, slots=True)
class LedgerSpan:
    """All fire times of a recurrence from `start` to before `until`."""

    schedule_id: str
    start: Millis
    until: Millis
    outcome: LedgerOutcome
    recurrence: Recurrence

    @property
    def key(self) -> str:
        """Sorts after the row of `until` in the newest-first order, before all that it covers."""
        return f"{self.until:013d}#0"


Entry = LedgerRow | LedgerSpan


@value(frozen=True, kw_only=True, slots=True)
class LedgerPage:
    """Entries as stored, newest key first."""

    entries: Sequence[Entry]
    more: bool


def just_after(fire_time: Millis) -> str:
    """Returns a key that is above all rows of a fire time and the span that ends with it, and below
    the rows of any later one."""
    return f"{fire_time + 1:013d}#1"


def kept_until(entry: Entry, now: Millis) -> Millis:
    """Returns when an entry may be removed. Entries of a backfill have fire times long past, so the
    retention counts from now at the earliest."""
    at = entry.fire_time if isinstance(entry, LedgerRow) else entry.until
    return max(at, now) + LEDGER_RETENTION
