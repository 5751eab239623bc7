"""look ahead: which occurrences of a schedule are to become tasks now.

Everything up to the horizon, what was missed as the misfire policy has it, and the next of every
span. Nothing is written here: a pass says what to put, what to note, and how the schedule stands
once that is done. A pass that is repeated, because it was cut off, says the same again, and the
ids of occurrences see to it that nothing comes of the repetition.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, takewhile

from lambdas.core.rules import Rules
from lambdas.core.schedules import late
from lambdas.core.schedules.ledger import Expected, LedgerRow
from lambdas.core.schedules.misfires import make_up, missed, missed_until
from lambdas.core.schedules.passes import MOST, Pass, own_id
from lambdas.core.schedules.plan import MisfirePolicy
from lambdas.core.schedules.schedule import LATE, MISSED, Schedule, ScheduleStatus, Span
from lambdas.core.schedules.times import after, first, from_of_old, latest
from lambdas.core.task import Task
from lambdas.core.times import Millis

NOTHING_KNOWN: Mapping[str, Task] = {}
LOOKED_FOR = 20  # next tasks of a serial span that a pass which was cut off may have put


def needed(schedule: Schedule, now: Millis, horizon: Millis) -> list[str]:
    """The ids of the tasks that a look ahead has to know, if they exist."""
    times = missed(schedule, now)
    ids = [own_id(schedule, at) for at in times]
    if times:
        ids += late.task_ids_before(schedule, times[0], horizon)
    for span in schedule.spans:
        if span.running is not None:
            ids.append(span.running)
        if span.id == LATE:
            ids += late.task_ids(schedule, span)
        elif span.serial:
            ids += [
                own_id(schedule, at, span.id) for at in islice(_times(schedule, span), LOOKED_FOR)
            ]
    return ids


def look_ahead(
    rules: Rules,
    schedule: Schedule,
    now: Millis,
    slot: Millis = 0,
    known: Mapping[str, Task] = NOTHING_KNOWN,
) -> Pass:
    """`slot`: when a run that makes up for missed ones may begin, if not at once. `known`: the
    tasks that `needed` names, as far as they exist. Raises whatever the rule raises, if it cannot
    be evaluated."""
    done = Pass(schedule=schedule, seen_at=now, runs=schedule.runs, known=known)
    found, plan = schedule.next_at, schedule.plan
    goes_on = schedule.status is ScheduleStatus.ACTIVE and not done.runs_out
    ruled = goes_on and plan.delay is None
    there = [at for at in missed(schedule, now) if own_id(schedule, at) in known]
    if ruled and found is not None and found < missed_until(plan, now):
        make_up(done, found, slot, there)
        late.note_before(done, found, rules.horizon)
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
    done.sets["spans"] = left = _spans(rules, done)
    done.reserved = _left_to_run(schedule, left)
    if schedule.status is not ScheduleStatus.ACTIVE or schedule.next_at is None:
        return
    if done.runs_promised:
        done.sets["next_at"] = None
    elif schedule.plan.delay is not None:
        _delayed(rules, done, schedule.next_at, slot, there)
    else:
        _ruled(rules, done, schedule.next_at)


def _ruled(rules: Rules, done: Pass, found: Millis) -> None:
    plan, horizon = done.schedule.plan, done.seen_at + rules.horizon
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
    """What is left of them. Of those with the rule's own fire times one runs at a time: what was
    missed in one outage waits for what was missed in an earlier one."""
    left: list[Span] = []
    held = any(s.own and s.running and not done.is_over(s.running) for s in done.schedule.spans)
    for span in done.schedule.spans:
        rest = span if span.own and held and span.running is None else _span(rules, done, span)
        if rest is not None:
            left.append(rest)
            held |= rest.own
    return tuple(left)


def _span(rules: Rules, done: Pass, span: Span) -> Span | None:
    """Put what of a span is due; what is left of it, None if nothing is."""
    if span.running is not None:
        if not done.is_over(span.running):
            return span.begun(span.running, done.seen_at) if span.due_at <= done.seen_at else span
        span = span.freed(done.known.get(span.running), done.seen_at)
    if span.own:
        span = replace(span, due_at=max(span.due_at, done.paced))
    if span.id == LATE:
        return late.release(done, span)
    return _put_some(rules, done, span)


def _put_some(rules: Rules, done: Pass, span: Span) -> Span | None:
    """However much that is, it leaves room for what is due by itself. Of a serial span one is put:
    the next one waits for its end, unless a pass that was cut off has put it, and it is over."""
    horizon = done.seen_at + rules.horizon
    overlap = done.schedule.plan.overlap if span.own else span.overlap
    for at in _times(done.schedule, span):
        if span.own and done.runs_out:
            break
        if span.due_at > horizon or len(done.occurrences) >= MOST // 2:
            done.more |= span.due_at <= horizon
            return replace(span, next_at=at)
        run_at = max(span.due_at, done.seen_at)
        task_id = done.put(at, run_at, overlap, span.id, awaited=span.serial)
        span = replace(span, next_at=at + 1, due_at=run_at + span.interval)
        if span.serial and (task_id not in done.known or not done.is_over(task_id)):
            return span.begun(task_id, done.seen_at)
    if span.own:
        done.paced = max(done.paced, span.due_at)
    return None


def _left_to_run(schedule: Schedule, spans: Sequence[Span]) -> int:
    """How many runs missed fire times will still need; not counted if there is no limit."""
    most = schedule.plan.max_runs
    if most is None:
        return 0
    missed = chain.from_iterable(_times(schedule, s) for s in spans if s.id == MISSED)
    return sum(1 for _ in islice(missed, most))


def _times(schedule: Schedule, span: Span) -> Iterator[Millis]:
    """The fire times that are left of a span."""
    plan = schedule.plan
    times = after(plan, span.next_at - 1) if span.own else from_of_old(plan, span.next_at)
    return takewhile(lambda at: at < span.until, times)


def _is_finished(done: Pass) -> bool:
    schedule, sets = done.schedule, done.sets
    if schedule.status is not ScheduleStatus.ACTIVE:
        return False
    if done.runs_out:
        return True
    waits = sets.get("awaited", schedule.awaited) is not None
    makes_up = any(span.own for span in sets["spans"])
    return sets.get("next_at", schedule.next_at) is None and not waits and not makes_up
