"""create, change, pause, resume, backfill: each is one write of the schedule's row.

A person's change wins over the scanner: change, pause and resume begin a new version, and an
occurrence of an older version that has not started is never started.
"""

from dataclasses import replace

from duetime.core.ids import created_at
from duetime.core.occurrence import OverlapPolicy
from duetime.core.schedules.fire_times import first, last_fired_at, runs_so_far
from duetime.core.schedules.ledger import Entry, LedgerOutcome, LedgerRow, LedgerSpan
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import OWN_RULE, Schedule, ScheduleStatus, Span, next_wake
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.value import value
from duetime.core.wake_policy import WakePolicy


@value(frozen=True, kw_only=True, slots=True)
class Changed:
    schedule: Schedule
    # Written before the schedule. A fire time that is put after all gets a row of its own, which
    # takes precedence.
    ledger_entries: tuple[Entry, ...] = ()


def create(wake_policy: WakePolicy, schedule_id: str, plan: Plan, now: Millis) -> Schedule:
    """Creates a schedule. Its first version is 1, unless its id is older than now: an idempotency
    key may recreate a deleted schedule, and the tasks of the old one must not match a version of
    the new one."""
    created = Schedule(
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
    return replace(created, wake=next_wake(wake_policy, created, now))


def change(wake_policy: WakePolicy, schedule: Schedule, plan: Plan, now: Millis) -> Changed:
    """Replaces the plan from now on. A run that a delay waits for is still awaited."""
    paused = schedule.status is ScheduleStatus.PAUSED
    kept = plan.delay is not None and schedule.awaited is not None
    changed = _new_version(
        schedule,
        now,
        plan=plan,
        status=ScheduleStatus.PAUSED if paused else ScheduleStatus.ACTIVE,
        awaited=schedule.awaited if kept else None,
        next_at=None if kept else first(plan, now),
        last_error=None,
    )
    outcome = LedgerOutcome.PAUSED if paused else LedgerOutcome.SKIPPED_MISFIRE
    return _changed(wake_policy, schedule, changed, outcome, now)


def pause(
    wake_policy: WakePolicy,
    schedule: Schedule,
    now: Millis,
    note: str | None,
    by: str | None = None,
) -> Changed:
    """Pauses a schedule. `next_at` is kept, so that resume can record the fire times in between. A
    schedule that is paused already only gets the note: it stays paused since then, by that
    caller."""
    if schedule.status is ScheduleStatus.PAUSED:
        noted = replace(schedule, note=note, revision=schedule.revision + 1, updated_at=now)
        return Changed(schedule=noted)
    state = {"status": ScheduleStatus.PAUSED, "paused_at": now, "paused_by": by}
    paused = _new_version(schedule, now, **state, note=note)
    ledger_entries = _unmet_spans(schedule, LedgerOutcome.PAUSED)
    return Changed(
        schedule=_with_wake(wake_policy, paused, now), ledger_entries=tuple(ledger_entries)
    )


def resume(
    wake_policy: WakePolicy, schedule: Schedule, now: Millis, note: str | None = None
) -> Changed:
    next_at = None if schedule.awaited is not None else first(schedule.plan, now)
    over = next_at is None and schedule.awaited is None
    resumed = _new_version(
        schedule,
        now,
        status=ScheduleStatus.FINISHED if over else ScheduleStatus.ACTIVE,
        next_at=next_at,
        dead_runs=(),
        note=note,
        paused_at=None,
        paused_by=None,
        last_error=None,
    )
    return _changed(wake_policy, schedule, resumed, LedgerOutcome.PAUSED, now)


def broken(wake_policy: WakePolicy, schedule: Schedule, error: str, now: Millis) -> Changed:
    """Marks a schedule that cannot be evaluated. Tasks that it has put may still run."""
    marked = replace(
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
        outcome=LedgerOutcome.BROKEN,
        error=error,
    )
    return Changed(schedule=_with_wake(wake_policy, marked, now), ledger_entries=(row,))


def backfill(
    wake_policy: WakePolicy,
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
    return _with_wake(
        wake_policy, replace(schedule, spans=spans, revision=schedule.revision + 1), now
    )


def _new_version(schedule: Schedule, now: Millis, **sets: object) -> Schedule:
    """Begins a new version. Catch-up spans belong to the old version and end; backfills continue.
    Tasks that were put ahead do not start any more, and are not counted as runs."""
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
    wake_policy: WakePolicy, before: Schedule, after: Schedule, outcome: LedgerOutcome, now: Millis
) -> Changed:
    """Adds the ledger entry of the fire times that the old version did not reach."""
    left = before.next_at
    recorded = before.plan.delay is None and before.status is not ScheduleStatus.BROKEN
    ledger_entries = _unmet_spans(before, outcome)
    until = now + 1 if before.plan.ends_at is None else min(now + 1, before.plan.ends_at)
    if recorded and left and left < until:
        ledger_entries.append(_ledger_span(before, left, until, outcome))
    return Changed(
        schedule=_with_wake(wake_policy, after, now), ledger_entries=tuple(ledger_entries)
    )


def _unmet_spans(schedule: Schedule, outcome: LedgerOutcome) -> list[LedgerSpan]:
    missed = [span for span in schedule.spans if span.id == OWN_RULE]
    return [_ledger_span(schedule, span.next_at, span.until, outcome) for span in missed]


def _ledger_span(
    schedule: Schedule, start: Millis, until: Millis, outcome: LedgerOutcome
) -> LedgerSpan:
    return LedgerSpan(
        schedule_id=schedule.id,
        start=start,
        until=until,
        outcome=outcome,
        recurrence=schedule.plan.recurrence,
    )


def _with_wake(wake_policy: WakePolicy, schedule: Schedule, now: Millis) -> Schedule:
    return replace(schedule, wake=next_wake(wake_policy, schedule, now))
