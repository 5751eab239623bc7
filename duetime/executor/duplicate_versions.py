"""Duplicate occurrences: one fire time for which two versions of a schedule each created a task.

That happens when the writer of the newer version has a clock behind an executor's, or takes long
between reading the clock and writing. The fire time must run once.
"""

from duetime.core.change import Applied, Refused, Unknown
from duetime.core.errors import Unavailable
from duetime.core.occurrence import Occurrence
from duetime.core.ports import Ports
from duetime.core.schedules.lookahead_pass import version_task_id
from duetime.core.schedules.schedule import Schedule
from duetime.core.schedules.start_decisions import CHANGED
from duetime.core.steps.cancel import cancel_unstarted
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis

MAX_WRITE_DELAY: Millis = MINUTE  # from reading the clock to the write
OLDER_VERSIONS = 4  # that are checked: a change, a pause and a resumption make one each


def started_in_older_version(ports: Ports, schedule: Schedule, occurrence: Occurrence) -> bool:
    """Returns whether an older version has already started this fire time. A duplicate that has
    not started is cancelled. Only fire times soon after the version began can be duplicates."""
    longest_lookahead = ports.wake_policy.horizon + MAX_WRITE_DELAY  # of an older version
    if occurrence.version != schedule.version:
        return False
    if not 0 < occurrence.scheduled_for - schedule.since <= longest_lookahead:
        return False
    older = range(max(schedule.version - OLDER_VERSIONS, 1), schedule.version)
    ids = [version_task_id(schedule.id, v, occurrence.scheduled_for) for v in older]
    duplicates = ports.store.get(ids).values() if ids else []
    now = ports.clock.now()
    return any(task.attempt > 0 or _starts_first(ports, task, now) for task in duplicates)


def _starts_first(ports: Ports, task: Task, now: Millis) -> bool:
    """The start of the duplicate and this cancellation race; the first write wins. Returns whether
    the start has won."""
    if task.status.finished:
        return False
    (answer,) = ports.store.apply([cancel_unstarted(task, now=now, reason=CHANGED)])
    match answer:
        case Applied():
            return False
        case Refused(stored):
            return stored is not None and stored.attempt > 0
        case Unknown(reason):
            raise Unavailable(reason)
