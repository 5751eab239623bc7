"""Retention: how long a task is kept after it has reached a final status."""

from duetime.core.lifecycle import Status
from duetime.core.step_ref import DEFAULT_RUN_TIMEOUT
from duetime.core.task import Spec
from duetime.core.times import DAY, Millis

RETENTION: Millis = 30 * DAY
LEDGER_RETENTION: Millis = 90 * DAY  # ledger entries, and the tasks that they name
KEY_LIFE: Millis = DAY  # how long an idempotency key names its task
# A task must outlive its idempotency key: otherwise a replay within that day runs it again.
MIN_RETENTION: Millis = KEY_LIFE
MAX_RETENTION: Millis = 3650 * DAY
# The tasks of steps are kept at least so much longer than others, so that a sweep of those that may
# leave reads few that must stay.
SHORTEST_EXTRA: Millis = DEFAULT_RUN_TIMEOUT
# A definition is kept so much longer than the last run that may need it, and a run that needs it
# for up to half of that longer does not renew it.
DEFINITION_EXTRA: Millis = 60 * DAY
RENEWED_AFTER: Millis = DEFINITION_EXTRA // 2


def kept_for(spec: Spec, retention: Millis) -> Millis:
    """Returns how long a task is kept. The ledger reads the outcome of an occurrence from its task,
    so the task is kept as long as the ledger. The task of a step may end long before its run, which
    ends at its timeout at the latest and is then kept for `retention`."""
    if spec.step:
        return retention + max(spec.step.run_timeout, SHORTEST_EXTRA)
    if spec.occurrence:
        return max(retention, LEDGER_RETENTION)
    return max(retention, KEY_LIFE) if spec.idempotency_key else retention


def kept_until(status: Status, at: Millis, kept_for: Millis) -> Millis | None:
    """Returns when a task that reached its status at `at` may be removed. None while it is not
    final: a dead task is kept until it is redriven or discarded."""
    return at + kept_for if status.final else None
