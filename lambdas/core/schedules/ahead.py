"""look ahead: which occurrences of a schedule are to become tasks now.

Everything up to the horizon, what was missed as the misfire policy has it, and the next of every
span. Nothing is written here: a pass says what to put, what to note, and how the schedule stands
once that is done. A pass that is repeated, because it was cut off, says the same again, and the
ids of occurrences see to it that nothing comes of the repetition.
"""

from collections.abc import Collection
from dataclasses import replace

from lambdas.core.rules import Rules
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.missed import in_turn, make_up, missed_until
from lambdas.core.schedules.passes import MOST, Pass
from lambdas.core.schedules.plan import MisfirePolicy
from lambdas.core.schedules.schedule import MISSED, Schedule, ScheduleStatus, Span
from lambdas.core.schedules.times import after, first, from_of_old, latest
from lambdas.core.times import Millis


def look_ahead(
    rules: Rules,
    schedule: Schedule,
    now: Millis,
    slot: Millis = 0,
    there: Collection[Millis] = (),
) -> Pass:
    """`slot`: when a run that makes up for missed ones may begin, if not at once. `there`: those of
    the missed fire times that are tasks. Raises whatever the rule raises, if it cannot be
    evaluated."""
    done = Pass(schedule=schedule, seen_at=now, runs=schedule.runs)
    found, plan = schedule.next_at, schedule.plan
    goes_on = schedule.status is ScheduleStatus.ACTIVE and not done.runs_out
    ruled = goes_on and plan.delay is None
    if ruled and found is not None and found < missed_until(plan, now):
        make_up(done, found, slot, there)
    else:
        _put_all(rules, done, slot, there)
    own = [ahead.fire_time for ahead in done.occurrences if ahead.span == MISSED]
    done.sets |= {"runs": done.runs, "put_at": latest(schedule, own)}
    if done.occurrences:
        done.sets["last_error"] = None
    if _is_finished(done):
        done.sets |= {"status": ScheduleStatus.FINISHED, "next_at": None}
    return done


def _put_all(rules: Rules, done: Pass, slot: Millis, there: Collection[Millis]) -> None:
    """What was missed comes first: if there are runs left for some only, then for the older."""
    schedule = done.schedule
    done.sets["spans"] = _spans(rules, done)
    if schedule.status is not ScheduleStatus.ACTIVE or schedule.next_at is None or done.runs_out:
        return
    if schedule.plan.delay is not None:
        _delayed(rules, done, schedule.next_at, slot, there)
    else:
        _ruled(rules, done, schedule.next_at)


def _ruled(rules: Rules, done: Pass, found: Millis) -> None:
    plan, horizon = done.schedule.plan, done.seen_at + rules.horizon
    next_at: Millis | None = found
    for at in after(plan, found - 1):
        next_at = at
        if at > horizon or done.runs_out or done.full:
            break
        done.put(at, max(at, done.seen_at), plan.overlap)
    else:
        next_at = None
    done.more |= done.full and next_at is not None and next_at <= horizon
    done.sets["next_at"] = next_at


def _delayed(rules: Rules, done: Pass, at: Millis, slot: Millis, there: Collection[Millis]) -> None:
    """After a run nothing more is known until it has ended."""
    plan = done.schedule.plan
    missed = at < missed_until(plan, done.seen_at) and at not in there
    if at > done.seen_at + rules.horizon:
        return
    if missed and plan.misfire.policy is MisfirePolicy.SKIP:
        done.notes.append(
            LedgerRow(
                schedule_id=done.schedule.id,
                fire_time=at,
                version=done.schedule.version,
                outcome=Expected.SKIPPED_MISFIRE,
            )
        )
        done.sets["next_at"] = first(plan, done.seen_at)
        done.settles = True  # and look again: the next tick would find that one missed as well
        return
    run_at = max(at, done.seen_at, slot if missed else 0)
    done.sets |= {"awaited": done.put(at, run_at, plan.overlap), "next_at": None}


def _spans(rules: Rules, done: Pass) -> tuple[Span, ...]:
    """What is left of them."""
    left: list[Span] = []
    for span in done.schedule.spans:
        older = next((s for s in left if s.id == MISSED == span.id), None)
        if older is not None:
            left.append(in_turn(span, older))
        elif (rest := _span(rules, done, span)) is not None:
            left.append(rest)
    return tuple(left)


def _span(rules: Rules, done: Pass, span: Span) -> Span | None:
    """Put what of a span is due; what is left of it, None if nothing is. However much that is, it
    leaves room for what is due by itself."""
    horizon = done.seen_at + rules.horizon
    own = span.id == MISSED
    if own:
        span = replace(span, due_at=max(span.due_at, done.paced))
    plan = done.schedule.plan
    for at in after(plan, span.next_at - 1) if own else from_of_old(plan, span.next_at):
        if at >= span.until or (own and done.runs_out):
            return None
        if span.due_at > horizon or len(done.occurrences) >= MOST // 2:
            done.more |= span.due_at <= horizon
            return replace(span, next_at=at)
        run_at = max(span.due_at, done.seen_at)
        done.put(at, run_at, span.overlap, span.id)
        span = replace(span, due_at=run_at + span.interval)
        if own:
            done.paced = span.due_at
    return None


def _is_finished(done: Pass) -> bool:
    schedule, sets = done.schedule, done.sets
    if schedule.status is not ScheduleStatus.ACTIVE:
        return False
    if done.runs_out:
        return True
    waits = sets.get("awaited", schedule.awaited) is not None
    makes_up = any(span.id == MISSED for span in sets["spans"])
    return sets.get("next_at", schedule.next_at) is None and not waits and not makes_up
