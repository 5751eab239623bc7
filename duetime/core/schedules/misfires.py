"""Misfires: fire times that passed before they became tasks.

The decision about them is written to the schedule before any of them is put. Otherwise a pass that
is cut off and repeated later would decide again, and more would run than the policy allows. For
fire times that are tasks already, see `late_runs`.
"""

from collections.abc import Collection
from itertools import islice, takewhile

from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import BadRule
from duetime.core.schedules.fire_times import after, backwards, first
from duetime.core.schedules.lookahead_pass import LookaheadPass
from duetime.core.schedules.plan import MisfirePolicy, Plan
from duetime.core.schedules.schedule import OWN_RULE, Schedule, ScheduleStatus, Span
from duetime.core.times import MINUTE, Millis

MAX_MISSED_KNOWN = 300  # fire times that a cut-off pass may have put: more than one a second


def missed_until(plan: Plan, now: Millis) -> Millis:
    """Returns the time before which a fire time counts as missed."""
    until = now - plan.lateness
    return until if plan.ends_at is None else min(until, plan.ends_at)


def missed(schedule: Schedule, now: Millis) -> list[Millis]:
    """Returns the oldest missed fire times. They may be tasks nevertheless, if the role that put
    them was cut off before it advanced the schedule."""
    return _from_next(schedule, missed_until(schedule.plan, now))


def unrecorded_fire_times(schedule: Schedule, now: Millis) -> list[Millis]:
    """Returns past fire times whose outcome the schedule has not recorded; they too may be tasks.
    Empty if the rule cannot be evaluated, which may be why the schedule is being changed."""
    spans = [span for span in schedule.spans if span.id == OWN_RULE]
    try:
        caught_up = [at for s in spans for at in _some(schedule.plan, s.next_at, s.until)]
        return caught_up + _from_next(schedule, now + 1)
    except BadRule:
        return []


def _from_next(schedule: Schedule, until: Millis) -> list[Millis]:
    start = schedule.next_at
    if schedule.status is not ScheduleStatus.ACTIVE or start is None or start >= until:
        return []
    return [start] if schedule.plan.delay is not None else _some(schedule.plan, start, until)


def _some(plan: Plan, start: Millis, until: Millis) -> list[Millis]:
    return list(islice(takewhile(lambda at: at < until, after(plan, start - 1)), MAX_MISSED_KNOWN))


def handle_misfires(
    done: LookaheadPass, start: Millis, slot: Millis, already_put: Collection[Millis]
) -> None:
    """Decides about the missed fire times from `start` on, by the misfire policy. One that is a
    task already (`already_put`) is put again, which creates nothing, but counts and records it as
    fired."""
    plan = done.schedule.plan
    until = missed_until(plan, done.seen_at)
    oldest = max(start, plan.too_old(done.seen_at))
    spans = done.schedule.spans
    due_at = max(done.seen_at, slot)
    match plan.misfire.policy:
        case MisfirePolicy.RUN_ALL if oldest < until:
            skipped_until = oldest
            spans = (*spans, catch_up_span(plan, OWN_RULE, oldest, until, due_at))
        case MisfirePolicy.RUN_ONCE:
            last = next(backwards(plan.recurrence, oldest, until), until)
            skipped_until = last
            done.sets["settled_until"] = until
            if last < until:
                spans = (*spans, catch_up_span(plan, OWN_RULE, last, until, due_at))
        case _:
            skipped_until = until
    for at in already_put:
        if at < skipped_until and not done.runs_out:
            done.put(at, due_at, plan.overlap)
    done.skip(start, skipped_until)
    done.needs_another_pass = True
    done.sets |= {"next_at": first(plan, until - 1), "spans": spans}


def catch_up_span(plan: Plan, span_id: str, start: Millis, until: Millis, due_at: Millis) -> Span:
    return Span(
        id=span_id,
        next_at=start,
        until=until,
        due_at=due_at,
        interval=round(MINUTE / plan.misfire.per_minute),
        overlap=OverlapPolicy.QUEUE if plan.catches_up_in_order else OverlapPolicy.ALLOW,
    )
