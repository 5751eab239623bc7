"""misfires: fire times that passed before they became tasks, and what becomes of them.

The decision is written into the schedule before any of them is put: otherwise a pass that is cut
off and repeated later would decide anew, and more would run than the policy says. For fire times
that are tasks already, see `late`.
"""

from collections.abc import Collection
from itertools import islice, takewhile

from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import BadRule
from lambdas.core.schedules.passes import Pass
from lambdas.core.schedules.plan import MisfirePolicy, Plan
from lambdas.core.schedules.schedule import MISSED, Schedule, ScheduleStatus, Span
from lambdas.core.schedules.times import after, backwards, first
from lambdas.core.times import MINUTE, Millis

LOOKED_FOR = 300  # fire times that a pass which was cut off may have put: one a second, and more


def missed_until(plan: Plan, now: Millis) -> Millis:
    """A fire time before this can no longer start in time."""
    until = now - plan.lateness
    return until if plan.ends_at is None else min(until, plan.ends_at)


def missed(schedule: Schedule, now: Millis) -> list[Millis]:
    """The oldest of them. They may be tasks nevertheless: who put them was cut off before the
    schedule could say so."""
    return _from_next(schedule, missed_until(schedule.plan, now))


def not_told(schedule: Schedule, now: Millis) -> list[Millis]:
    """Fire times that have come, and of which the schedule does not know what became; likewise.
    None if its rule cannot be evaluated: it may be about to be changed for that."""
    spans = [span for span in schedule.spans if span.id == MISSED]
    try:
        made_up = [at for s in spans for at in _some(schedule.plan, s.next_at, s.until)]
        return made_up + _from_next(schedule, now + 1)
    except BadRule:
        return []


def _from_next(schedule: Schedule, until: Millis) -> list[Millis]:
    start = schedule.next_at
    if schedule.status is not ScheduleStatus.ACTIVE or start is None or start >= until:
        return []
    return [start] if schedule.plan.delay is not None else _some(schedule.plan, start, until)


def _some(plan: Plan, start: Millis, until: Millis) -> list[Millis]:
    return list(islice(takewhile(lambda at: at < until, after(plan, start - 1)), LOOKED_FOR))


def make_up(done: Pass, start: Millis, slot: Millis, there: Collection[Millis]) -> None:
    """Decide on what was missed from a fire time on. What of it is a task already is put once
    more, which does nothing, and is counted and noted as fired."""
    plan = done.schedule.plan
    until = missed_until(plan, done.seen_at)
    oldest = max(start, plan.too_old(done.seen_at))
    spans = done.schedule.spans
    due_at = max(done.seen_at, slot)
    match plan.misfire.policy:
        case MisfirePolicy.RUN_ALL if oldest < until:
            skipped_until = oldest
            spans = (*spans, made_up_span(plan, MISSED, oldest, until, due_at))
        case MisfirePolicy.RUN_ONCE:
            last = next(backwards(plan.recurrence, oldest, until), until)
            skipped_until = last
            done.sets["settled_until"] = until
            if last < until:
                spans = (*spans, made_up_span(plan, MISSED, last, until, due_at))
        case _:
            skipped_until = until
    for at in there:
        if at < skipped_until and not done.runs_out:
            done.put(at, due_at, plan.overlap)
    done.skip(start, skipped_until)
    done.settles = True
    done.sets |= {"next_at": first(plan, until - 1), "spans": spans}


def made_up_span(plan: Plan, span_id: str, start: Millis, until: Millis, due_at: Millis) -> Span:
    return Span(
        id=span_id,
        next_at=start,
        until=until,
        due_at=due_at,
        interval=round(MINUTE / plan.misfire.per_minute),
        overlap=OverlapPolicy.QUEUE if plan.makes_up_in_order else OverlapPolicy.ALLOW,
    )
