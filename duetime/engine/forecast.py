"""What is coming: the stored tasks that are due, and the fire times that become tasks until then.

A schedule is materialised a horizon ahead, and its `next_at` is its first fire time that is not a
task yet, so nothing is counted twice. A schedule that is materialised during the forecast may be an
exception for that moment.
"""

import heapq
import logging
from collections import Counter
from collections.abc import Iterable, Iterator

from duetime.core.errors import Unavailable
from duetime.core.forecast import (
    MAX_FIRE_TIMES,
    MAX_SCHEDULES,
    DueCounts,
    DueSpan,
    Forecast,
    Place,
)
from duetime.core.lanes import Lane
from duetime.core.ports import Ports
from duetime.core.schedules.fire_times import not_put
from duetime.core.schedules.schedule import Schedule
from duetime.core.times import Millis
from duetime.core.wakes import minute_of

log = logging.getLogger(__name__)


def forecast(ports: Ports, span: DueSpan) -> Forecast:
    """Returns what comes due in the span, as far as its bounded reads reach."""
    due = ports.store.due_counts(span)
    occurrences, until = _occurrences(_schedules(ports, due, span), span)
    return Forecast(
        span=span,
        tasks=due.tasks,
        occurrences=occurrences,
        looked_from=due.looked_from,
        looked_until=min(due.looked_until, until, _schedules_until(due, span)),
    )


def _schedules(ports: Ports, due: DueCounts, span: DueSpan) -> list[Schedule]:
    ids = [wake.task_id for wake in due.wakes[:MAX_SCHEDULES]]
    found = ports.schedules.get(ids) if ids else {}
    return [s for s in found.values() if span.namespace in (None, s.plan.namespace)]


def _schedules_until(due: DueCounts, span: DueSpan) -> Millis:
    """Returns until when no fire time is missing. A schedule does not fire before its wake."""
    left = due.wakes[MAX_SCHEDULES:]
    return max(left[0].at, span.start) if left else span.end


def _occurrences(schedules: Iterable[Schedule], span: DueSpan) -> tuple[Counter[Place], Millis]:
    """Counts the first MAX_FIRE_TIMES fire times. Returns also until when none is missing."""
    counts: Counter[Place] = Counter()
    merged = heapq.merge(*(_fire_times(schedule, span) for schedule in schedules))
    for number, (at, rank) in enumerate(merged):
        if number == MAX_FIRE_TIMES:
            return counts, at
        counts[minute_of(at), Lane.ranked(rank)] += 1
    return counts, span.end


def _fire_times(schedule: Schedule, span: DueSpan) -> Iterator[tuple[Millis, int]]:
    """Yields fire times with the rank of their lane. A rule that cannot be evaluated ends its own
    fire times only: the scanner marks the schedule as broken."""
    rank = schedule.plan.lane.rank
    try:
        for at in not_put(schedule, span.start, span.end):
            yield at, rank
    except OSError as error:  # this machine's fault: a time zone or module could not be opened
        raise Unavailable(f"a schedule could not be evaluated: {error}") from error
    except Exception:
        log.exception("schedule left out: not evaluated", extra={"schedule_id": schedule.id})
