"""A fire time that two versions of a schedule have put: whoever began the newer one had a clock
that lags behind an executor's, or took long from a look at the clock to the write. It is to run
once.
"""

from lambdas.core.change import Applied, Refused, Unknown
from lambdas.core.errors import Unavailable
from lambdas.core.occurrence import Occurrence
from lambdas.core.ports import Ports
from lambdas.core.schedules.decisions import CHANGED
from lambdas.core.schedules.passes import version_id
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.steps.cancel import cancel_unstarted
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis

SLOW: Millis = MINUTE  # from a look at the clock to the write that it is for
OLDER = 4  # versions that are looked at: a change, a pause and a resumption are one each


def started_before(ports: Ports, schedule: Schedule, occurrence: Occurrence) -> bool:
    """Whether the fire time has started in an older version already. What has not, does not any
    more. Only what comes soon after its version began can be meant."""
    put_ahead = ports.rules.horizon + SLOW  # by an older version, at the most
    if occurrence.version != schedule.version:
        return False
    if not 0 < occurrence.scheduled_for - schedule.since <= put_ahead:
        return False
    older = range(max(schedule.version - OLDER, 1), schedule.version)
    ids = [version_id(schedule.id, v, occurrence.scheduled_for) for v in older]
    there = ports.store.get(ids).values() if ids else []
    now = ports.clock.now()
    return any(task.attempt > 0 or _starts_first(ports, task, now) for task in there)


def _starts_first(ports: Ports, task: Task, now: Millis) -> bool:
    """Of the two, its start and its end here, the first wins."""
    if task.status.finished:
        return False
    (answer,) = ports.store.apply([cancel_unstarted(task, now=now, reason=CHANGED)])
    match answer:
        case Applied():
            return False
        case Refused(standing):
            return standing is not None and standing.attempt > 0
        case Unknown(reason):
            raise Unavailable(reason)
