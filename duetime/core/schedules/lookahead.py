"""Lookahead: which occurrences of a schedule become tasks now.

These are the fire times up to the horizon, the missed ones that the misfire policy wants, and the
next of every span. Nothing is written here: a pass says what to put, what to write to the ledger,
and how the schedule changes after that. A pass that was cut off is repeated with the same result,
and the ids of occurrences make the repetition harmless.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile

from duetime.core.schedules import late_runs as late
from duetime.core.schedules.fire_times import after, backfill_fire_times, first, latest
from duetime.core.schedules.ledger import LedgerOutcome, LedgerRow
from duetime.core.schedules.lookahead_pass import MAX_OCCURRENCES, LookaheadPass, task_id_of
from duetime.core.schedules.misfires import handle_misfires, missed, missed_until
from duetime.core.schedules.plan import MisfirePolicy
from duetime.core.schedules.schedule import LATE, OWN_RULE, Schedule, ScheduleStatus, Span
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy

NOTHING_KNOWN: Mapping[str, Task] = {}
MAX_SPAN_TASKS_KNOWN = 20  # tasks of a serial span that a cut-off pass may have put


def needed_task_ids(schedule: Schedule, now: Millis, horizon: Millis) -> list[str]:
    """Returns the ids of the tasks that look_ahead needs, whether they exist or not."""
    times = missed(schedule, now)
    ids = [task_id_of(schedule, at) for at in times]
    if times:
        ids += late.task_ids_before(schedule, times[0], horizon)
    for span in schedule.spans:
        if span.running is not None:
            ids.append(span.running)
        if span.id == LATE:
            ids += late.task_ids(schedule, span)
        elif span.serial:
            ids += [
                task_id_of(schedule, at, span.id)
                for at in islice(_times(schedule, span), MAX_SPAN_TASKS_KNOWN)
            ]
    return ids


def look_ahead(
    wake_policy: WakePolicy,
    schedule: Schedule,
    now: Millis,
    slot: Millis = 0,
    known: Mapping[str, Task] = NOTHING_KNOWN,
) -> LookaheadPass:
    """Returns what to put. `slot` is the earliest start of a catch-up run; `known` has those of the
    tasks of `needed_task_ids` that exist. Raises the rule's own error if it cannot be evaluated."""
    done = LookaheadPass(schedule=schedule, seen_at=now, runs=schedule.runs, known_tasks=known)
    found, plan = schedule.next_at, schedule.plan
    active = schedule.status is ScheduleStatus.ACTIVE and not done.runs_out
    by_rule = active and plan.delay is None
    already_put = [at for at in missed(schedule, now) if task_id_of(schedule, at) in known]
    if by_rule and found is not None and found < missed_until(plan, now):
        handle_misfires(done, found, slot, already_put)
        late.add_late_span_before(done, found, wake_policy.horizon)
    else:
        _put_all(wake_policy, done, slot, already_put)
    own = [ahead.fire_time for ahead in done.occurrences if ahead.span == OWN_RULE]
    done.sets |= {"runs": done.runs, "put_at": latest(schedule, own)}
    if done.occurrences:
        done.sets["last_error"] = None
    if _is_finished(done):
        done.sets |= {"status": ScheduleStatus.FINISHED, "next_at": None}
    return done


def _put_all(
    wake_policy: WakePolicy, done: LookaheadPass, slot: Millis, already_put: Collection[Millis]
) -> None:
    """Puts missed fire times first: if `max_runs` does not allow all, the older ones run."""
    schedule = done.schedule
    done.sets["spans"] = left = _spans(wake_policy, done)
    done.reserved = _left_to_run(schedule, left)
    if schedule.status is not ScheduleStatus.ACTIVE or schedule.next_at is None:
        return
    if done.runs_promised:
        done.sets["next_at"] = None
    elif schedule.plan.delay is not None:
        _put_delayed(wake_policy, done, schedule.next_at, slot, already_put)
    else:
        _put_by_rule(wake_policy, done, schedule.next_at)


def _put_by_rule(wake_policy: WakePolicy, done: LookaheadPass, found: Millis) -> None:
    plan, horizon = done.schedule.plan, done.seen_at + wake_policy.horizon
    next_at: Millis | None = found
    for at in after(plan, found - 1):
        next_at = at
        if at > horizon or done.runs_promised or done.full:
            break
        done.put(at, max(at, done.seen_at), plan.overlap)
    else:
        next_at = None
    if done.runs_promised:
        next_at = None
    done.more |= done.full and next_at is not None and next_at <= horizon
    done.sets["next_at"] = next_at


def _put_delayed(
    wake_policy: WakePolicy,
    done: LookaheadPass,
    at: Millis,
    slot: Millis,
    already_put: Collection[Millis],
) -> None:
    """Puts the next run of a delay. The fire time after it is unknown until the run has ended."""
    plan = done.schedule.plan
    missed = at < missed_until(plan, done.seen_at) and at not in already_put
    if at > done.seen_at + wake_policy.horizon:
        return
    if missed and plan.misfire.policy is MisfirePolicy.SKIP:
        done.ledger_entries.append(
            LedgerRow(
                schedule_id=done.schedule.id,
                fire_time=at,
                version=done.schedule.version,
                outcome=LedgerOutcome.SKIPPED_MISFIRE,
            )
        )
        done.sets["next_at"] = first(plan, done.seen_at)
        done.needs_another_pass = True  # the next tick would find that fire time missed too
        return
    run_at = max(at, done.seen_at, slot if missed else 0)
    done.sets |= {"awaited": done.put(at, run_at, plan.overlap), "next_at": None}


def _spans(wake_policy: WakePolicy, done: LookaheadPass) -> tuple[Span, ...]:
    """Returns what is left of the spans. Only one span of the rule's own fire times runs at
    a time; the span of a later outage waits for the earlier one."""
    left: list[Span] = []
    held = any(s.own and s.running and not done.is_over(s.running) for s in done.schedule.spans)
    for span in done.schedule.spans:
        rest = (
            span if span.own and held and span.running is None else _span(wake_policy, done, span)
        )
        if rest is not None:
            left.append(rest)
            held |= rest.own
    return tuple(left)


def _span(wake_policy: WakePolicy, done: LookaheadPass, span: Span) -> Span | None:
    """Puts the due fire times of a span. Returns the remaining span, or None."""
    if span.running is not None:
        if not done.is_over(span.running):
            return (
                span.with_run(span.running, done.seen_at) if span.due_at <= done.seen_at else span
            )
        span = span.without_run(done.known_tasks.get(span.running), done.seen_at)
    if span.own:
        span = replace(span, due_at=max(span.due_at, done.catch_up_from))
    if span.id == LATE:
        return late.release(done, span)
    return _put_some(wake_policy, done, span)


def _put_some(wake_policy: WakePolicy, done: LookaheadPass, span: Span) -> Span | None:
    """Puts the due fire times of a span, up to half of a pass, which leaves room for ordinary ones.
    Of a serial span it puts one run, and the next waits for its end; it continues only past runs
    that a cut-off pass has put and that have ended."""
    horizon = done.seen_at + wake_policy.horizon
    overlap = done.schedule.plan.overlap if span.own else span.overlap
    for at in _times(done.schedule, span):
        if span.own and done.runs_out:
            break
        if span.due_at > horizon or len(done.occurrences) >= MAX_OCCURRENCES // 2:
            done.more |= span.due_at <= horizon
            return replace(span, next_at=at)
        run_at = max(span.due_at, done.seen_at)
        task_id = done.put(at, run_at, overlap, span.id, awaited=span.serial)
        span = replace(span, next_at=at + 1, due_at=run_at + span.interval)
        if span.serial and (task_id not in done.known_tasks or not done.is_over(task_id)):
            return span.with_run(task_id, done.seen_at)
    if span.own:
        done.catch_up_from = max(done.catch_up_from, span.due_at)
    return None


def _left_to_run(schedule: Schedule, spans: Sequence[Span]) -> int:
    """Returns how many runs the missed fire times still need; 0 if runs are not limited."""
    most = schedule.plan.max_runs
    if most is None:
        return 0
    missed = chain.from_iterable(_times(schedule, s) for s in spans if s.id == OWN_RULE)
    return sum(1 for _ in islice(missed, most))


def _times(schedule: Schedule, span: Span) -> Iterator[Millis]:
    """Returns the fire times that are left of a span."""
    plan = schedule.plan
    times = after(plan, span.next_at - 1) if span.own else backfill_fire_times(plan, span.next_at)
    return takewhile(lambda at: at < span.until, times)


def _is_finished(done: LookaheadPass) -> bool:
    schedule, sets = done.schedule, done.sets
    if schedule.status is not ScheduleStatus.ACTIVE:
        return False
    if done.runs_out:
        return True
    awaits = sets.get("awaited", schedule.awaited) is not None
    catches_up = any(span.own for span in sets["spans"])
    return sets.get("next_at", schedule.next_at) is None and not awaits and not catches_up
