"""Retention: how long a task is kept after it has reached a final status."""

from duetime.core.lifecycle import Status
from duetime.core.task import Spec
from duetime.core.times import DAY, Millis

RETENTION: Millis = 30 * DAY
LEDGER_RETENTION: Millis = 90 * DAY  # ledger entries, and the tasks that they name


def kept_for(spec: Spec, retention: Millis) -> Millis:
    """Returns how long a task is kept. The ledger reads the outcome of an occurrence from its task,
    so the task is kept as long as the ledger."""
    return max(retention, LEDGER_RETENTION) if spec.occurrence else retention


def kept_until(status: Status, at: Millis, kept_for: Millis) -> Millis | None:
    """Returns when a task that reached its status at `at` may be removed. None while it is not
    final: a dead task is kept until it is redriven or discarded."""
    return at + kept_for if status.final else None
