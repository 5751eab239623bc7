"""create, change, pause, resume, backfill: each is one write of the schedule's row.

Who changes a schedule wins over the scanner: a change, a pause and a resumption begin a new
version, and an occurrence that was put in an older one and has not started starts no more.
"""

from dataclasses import replace

from lambdas.core.ids import created_at
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.rules import Rules
from lambdas.core.schedules.ledger import Entry, Expected, LedgerRow, LedgerSpan
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import MISSED, Schedule, ScheduleStatus, Span, placed
from lambdas.core.schedules.times import first, last_fired_at, runs_so_far
from lambdas.core.times import MINUTE, SECOND, Millis
from lambdas.core.values import value


@value(frozen=True, kw_only=True, slots=True)
class Changed:
    schedule: Schedule
    # For the ledger, before the schedule stands: what is then put after all has a row of its own,
    # and that is what is told.
    notes: tuple[Entry, ...] = ()


def create(rules: Rules, schedule_id: str, plan: Plan, now: Millis) -> Schedule:
    """Its first version is 1, unless its id is older: an idempotency key may bring back one that
    was deleted, and what that one had put must not pass for the new one's."""
    made = Schedule(
        id=schedule_id,
        plan=plan,
        status=ScheduleStatus.ACTIVE,
        version=1 + max(now - created_at(schedule_id), 0) // SECOND,
        revision=1,
        created_at=now,
        updated_at=now,
        since=now,
        next_at=first(plan, now),
    )
    return replace(made, wake=placed(rules, made, now))


def change(rules: Rules, schedule: Schedule, plan: Plan, now: Millis) -> Changed:
    """From now on by another plan. A run that a delay counts from goes on being awaited."""
    paused = schedule.status is ScheduleStatus.PAUSED
    kept = plan.delay is not None and schedule.awaited is not None
    changed = _begun(
        schedule,
        now,
        plan=plan,
        status=ScheduleStatus.PAUSED if paused else ScheduleStatus.ACTIVE,
        awaited=schedule.awaited if kept else None,
        next_at=None if kept else first(plan, now),
        last_error=None,
    )
    outcome = Expected.PAUSED if paused else Expected.SKIPPED_MISFIRE
    return _changed(rules, schedule, changed, outcome, now)


def pause(rules: Rules, schedule: Schedule, now: Millis, note: str | None) -> Changed:
    """`next_at` stays: what it missed by its pause is told when it is resumed."""
    if schedule.status is ScheduleStatus.PAUSED:
        told = replace(schedule, note=note, revision=schedule.revision + 1, updated_at=now)
        return Changed(schedule=told)
    paused = _begun(schedule, now, status=ScheduleStatus.PAUSED, note=note)
    notes = _not_made_up(schedule, Expected.PAUSED)
    return Changed(schedule=_woken(rules, paused, now), notes=tuple(notes))


def resume(rules: Rules, schedule: Schedule, now: Millis, note: str | None = None) -> Changed:
    next_at = None if schedule.awaited is not None else first(schedule.plan, now)
    over = next_at is None and schedule.awaited is None
    resumed = _begun(
        schedule,
        now,
        status=ScheduleStatus.FINISHED if over else ScheduleStatus.ACTIVE,
        next_at=next_at,
        dead_runs=(),
        note=note,
        last_error=None,
    )
    return _changed(rules, schedule, resumed, Expected.PAUSED, now)


def broken(rules: Rules, schedule: Schedule, error: str, now: Millis) -> Changed:
    """Set aside: it cannot be evaluated. What it has put already may run."""
    aside = replace(
        schedule,
        status=ScheduleStatus.BROKEN,
        revision=schedule.revision + 1,
        last_error=error,
        spans=(),
    )
    row = LedgerRow(
        schedule_id=schedule.id,
        fire_time=schedule.next_at or now,
        version=schedule.version,
        outcome=Expected.BROKEN,
        error=error,
    )
    return Changed(schedule=_woken(rules, aside, now), notes=(row,))


def backfill(
    rules: Rules,
    schedule: Schedule,
    span_id: str,
    *,
    start: Millis,
    until: Millis,
    overlap: OverlapPolicy,
    per_minute: float,
    now: Millis,
) -> Schedule:
    span = Span(
        id=span_id,
        next_at=start,
        until=until,
        due_at=now,
        interval=round(MINUTE / per_minute),
        overlap=overlap,
    )
    spans = (*schedule.spans, span)
    return _woken(rules, replace(schedule, spans=spans, revision=schedule.revision + 1), now)


def _begun(schedule: Schedule, now: Millis, **sets: object) -> Schedule:
    """A new version. What it was still making up for is of the old one; backfills go on. What was
    put and is still to come does not start any more, and counts as no run."""
    fired_at = last_fired_at(schedule, now)
    return replace(
        schedule,
        version=schedule.version + 1,
        revision=schedule.revision + 1,
        since=now,
        updated_at=now,
        runs=runs_so_far(schedule, now),
        put_at=() if fired_at is None else (fired_at,),
        spans=tuple(span for span in schedule.spans if not span.own),
        settled_until=0,
        **sets,  # type: ignore[arg-type]
    )


def _changed(
    rules: Rules, before: Schedule, begun: Schedule, outcome: Expected, now: Millis
) -> Changed:
    """With a note of the fire times that the old version has not come to."""
    left = before.next_at
    told = before.plan.delay is None and before.status is not ScheduleStatus.BROKEN
    notes = _not_made_up(before, outcome)
    until = now + 1 if before.plan.ends_at is None else min(now + 1, before.plan.ends_at)
    if told and left and left < until:
        notes.append(_passed(before, left, until, outcome))
    return Changed(schedule=_woken(rules, begun, now), notes=tuple(notes))


def _not_made_up(schedule: Schedule, outcome: Expected) -> list[LedgerSpan]:
    missed = [span for span in schedule.spans if span.id == MISSED]
    return [_passed(schedule, span.next_at, span.until, outcome) for span in missed]


def _passed(schedule: Schedule, start: Millis, until: Millis, outcome: Expected) -> LedgerSpan:
    return LedgerSpan(
        schedule_id=schedule.id,
        start=start,
        until=until,
        outcome=outcome,
        recurrence=schedule.plan.recurrence,
    )


def _woken(rules: Rules, schedule: Schedule, now: Millis) -> Schedule:
    return replace(schedule, wake=placed(rules, schedule, now))
