"""look ahead: which occurrences of a schedule are to become tasks now.

Everything up to the horizon, what was missed as the misfire policy has it, and the next of every
span. Nothing is written here: a pass says what to put, what to note, and how the schedule stands
once that is done. A pass that is repeated, because it was cut off, says the same again, and the
ids of occurrences see to it that nothing comes of the repetition.
"""

from collections.abc import Collection, Iterator
from dataclasses import field, replace
from itertools import islice, takewhile
from typing import Any

from lambdas.core.occurrence import OverlapPolicy, occurrence_id
from lambdas.core.rules import Rules
from lambdas.core.schedules.ledger import Entry, Expected, LedgerRow, LedgerSpan
from lambdas.core.schedules.plan import MisfirePolicy, Plan
from lambdas.core.schedules.schedule import MISSED, Schedule, ScheduleStatus, Span, placed
from lambdas.core.schedules.times import after, backwards, first, from_of_old, latest
from lambdas.core.times import MINUTE, Millis
from lambdas.core.values import value

MOST = 1_000  # occurrences in one pass
LOOKED_FOR = 300  # fire times that a pass which was cut off may have put: one a second, and more


@value(frozen=True, kw_only=True, slots=True)
class Ahead:
    """One fire time that is to become a task."""

    id: str
    fire_time: Millis
    run_at: Millis
    overlap: OverlapPolicy
    span: str = MISSED  # the backfill that it belongs to


@value(frozen=False, kw_only=True, slots=True)
class Pass:
    """What one look ahead has come to."""

    schedule: Schedule  # as it was found
    seen_at: Millis
    runs: int
    occurrences: list[Ahead] = field(default_factory=list)
    notes: list[Entry] = field(default_factory=list)
    sets: dict[str, Any] = field(default_factory=dict)  # how the schedule changes
    more: bool = False  # there is more to put at once than one pass takes
    paced: Millis = 0  # before then nothing more that was missed is made up for

    @property
    def runs_out(self) -> bool:
        most = self.schedule.plan.max_runs
        return most is not None and self.runs >= most

    @property
    def full(self) -> bool:
        return len(self.occurrences) >= MOST

    def put(
        self, fire_time: Millis, run_at: Millis, overlap: OverlapPolicy, span: str = MISSED
    ) -> str:
        task_id = own_id(self.schedule, fire_time, span)
        self.occurrences.append(
            Ahead(id=task_id, fire_time=fire_time, run_at=run_at, overlap=overlap, span=span)
        )
        self.runs += span == MISSED
        return task_id

    def skip(self, start: Millis, until: Millis) -> None:
        """Note as missed every fire time of a stretch that begins with one."""
        if start < until:
            self.notes.append(
                LedgerSpan(
                    schedule_id=self.schedule.id,
                    start=start,
                    until=until,
                    outcome=Expected.SKIPPED_MISFIRE,
                    recurrence=self.schedule.plan.recurrence,
                )
            )

    def not_built(self, ahead: Ahead, error: str) -> None:
        """It never becomes a task. A delay must not await its end."""
        self.sets["last_error"] = error
        if self.sets.get("awaited") == ahead.id:
            self.sets["awaited"] = None
            if not self.runs_out:
                next_at = first(self.schedule.plan, max(ahead.fire_time, self.seen_at))
                status = ScheduleStatus.FINISHED if next_at is None else self.schedule.status
                self.sets |= {"next_at": next_at, "status": status}

    def stands_for(self, standing: Schedule) -> bool:
        """Whether what this pass found is still so. Others write the row too, when a run begins
        or ends."""
        found = self.schedule
        return (standing.version, standing.status, standing.next_at, standing.spans) == (
            found.version,
            found.status,
            found.next_at,
            found.spans,
        )

    def applied_to(self, rules: Rules, standing: Schedule) -> Schedule:
        advanced = replace(standing, revision=standing.revision + 1, **self.sets)
        return replace(advanced, wake=placed(rules, advanced, self.seen_at))


def own_id(schedule: Schedule, fire_time: Millis, span: str = MISSED) -> str:
    """Of the task that a fire time becomes."""
    return occurrence_id(schedule.id, span or f"v{schedule.version}", fire_time)


def missed(schedule: Schedule, now: Millis) -> list[Millis]:
    """Fire times whose time to be put has passed, the oldest first; not all, if there are many.
    They may be tasks nevertheless: who put them was cut off before the schedule could say so."""
    plan, start = schedule.plan, schedule.next_at
    if schedule.status is not ScheduleStatus.ACTIVE or start is None:
        return []
    until = _missed_until(plan, now)
    if plan.delay is not None:
        return [start] if start < until else []
    times = takewhile(lambda at: at < until, after(plan, start - 1))
    return list(islice(times, LOOKED_FOR))


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
    spans = schedule.spans
    if schedule.status is ScheduleStatus.ACTIVE and schedule.next_at is not None:
        if done.runs_out:  # it may have been changed to fewer runs than it has had
            done.sets["next_at"] = None
        elif schedule.plan.delay is not None:
            _delayed(rules, done, schedule.next_at, slot, there)
        else:
            spans = _ruled(rules, done, schedule.next_at, slot, there)
    spans = _spans(rules, done, spans)
    own = [ahead.fire_time for ahead in done.occurrences if ahead.span == MISSED]
    put_at = latest(schedule, own)
    done.sets |= {"spans": spans, "runs": done.runs, "put_at": put_at}
    if done.occurrences:
        done.sets["last_error"] = None
    if _is_finished(done):
        done.sets["status"] = ScheduleStatus.FINISHED
    return done


def _ruled(
    rules: Rules, done: Pass, found: Millis, slot: Millis, there: Collection[Millis]
) -> tuple[Span, ...]:
    """Returns the spans that are to be looked at, with that of what was missed."""
    plan, horizon = done.schedule.plan, done.seen_at + rules.horizon
    next_at: Millis | None = found
    spans = done.schedule.spans
    missed_until = _missed_until(plan, done.seen_at)
    if found < missed_until:
        spans = _make_up(done, found, missed_until, slot, there)
        next_at = first(plan, missed_until - 1)
    for at in _from(plan, next_at):
        next_at = at
        if at > horizon or done.runs_out or done.full:
            break
        done.put(at, max(at, done.seen_at), plan.overlap)
    else:
        next_at = None
    done.more = done.full and next_at is not None and next_at <= horizon
    done.sets["next_at"] = None if done.runs_out else next_at
    return spans


def _delayed(rules: Rules, done: Pass, at: Millis, slot: Millis, there: Collection[Millis]) -> None:
    """After a run nothing more is known until it has ended."""
    plan = done.schedule.plan
    missed = at < _missed_until(plan, done.seen_at) and at not in there
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
        return
    run_at = max(at, done.seen_at, slot if missed else 0)
    done.sets |= {"awaited": done.put(at, run_at, plan.overlap), "next_at": None}


def _make_up(
    done: Pass, start: Millis, until: Millis, slot: Millis, there: Collection[Millis]
) -> tuple[Span, ...]:
    """Settle what was missed, from a fire time up to an instant. What is a task already is put
    once more, which does nothing, and is counted and told as one."""
    plan, spans = done.schedule.plan, done.schedule.spans
    window = plan.misfire.window
    oldest = start if window is None else max(start, done.seen_at - window)
    run_at = max(done.seen_at, slot)
    made_up = plan.misfire.policy is MisfirePolicy.RUN_ALL and oldest < until
    for at in there:
        if not ((made_up and at >= oldest) or done.runs_out):
            done.put(at, run_at, plan.overlap)
    match plan.misfire.policy:
        case MisfirePolicy.RUN_ALL if made_up:
            done.skip(start, oldest)
            return (*spans, _missed_span(plan, oldest, until, due_at=run_at))
        case MisfirePolicy.RUN_ONCE:
            last = next(backwards(plan.recurrence, oldest, until), None)
            done.skip(start, until if last is None else last)
            if last is not None and last not in there and not done.runs_out:
                done.put(last, run_at, plan.overlap)
        case _:
            done.skip(start, until)
    return spans


def _missed_span(plan: Plan, start: Millis, until: Millis, *, due_at: Millis) -> Span:
    return Span(
        id=MISSED,
        next_at=start,
        until=until,
        due_at=due_at,
        interval=round(MINUTE / plan.misfire.per_minute),
        overlap=plan.overlap,
    )


def _spans(rules: Rules, done: Pass, spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """What is left of them. Of what was missed in one outage and in another the older comes first,
    so that together they keep the pace."""
    left: list[Span] = []
    for span in spans:
        older = next((s for s in left if s.id == MISSED == span.id), None)
        if older is not None:
            left.append(replace(span, due_at=max(span.due_at, older.due_at)))
        elif (rest := _span(rules, done, span)) is not None:
            left.append(rest)
    return tuple(left)


def _span(rules: Rules, done: Pass, span: Span) -> Span | None:
    """Put what of a span is due; what is left of it, None if nothing is."""
    horizon = done.seen_at + rules.horizon
    own = span.id == MISSED
    if own:
        span = replace(span, due_at=max(span.due_at, done.paced))
    plan = done.schedule.plan
    for at in _from(plan, span.next_at) if own else from_of_old(plan, span.next_at):
        if at >= span.until or (own and done.runs_out):
            return None
        if span.due_at > horizon or done.full:
            done.more |= span.due_at <= horizon
            return replace(span, next_at=at)
        run_at = max(span.due_at, done.seen_at)
        done.put(at, run_at, span.overlap, span.id)
        span = replace(span, due_at=run_at + span.interval)
        if own:
            done.paced = span.due_at
    return None


def _missed_until(plan: Plan, now: Millis) -> Millis:
    until = now - plan.misfire.grace
    return until if plan.ends_at is None else min(until, plan.ends_at)


def _from(plan: Plan, at: Millis | None) -> Iterator[Millis]:
    return iter(()) if at is None else after(plan, at - 1)


def _is_finished(done: Pass) -> bool:
    schedule, sets = done.schedule, done.sets
    if schedule.status is not ScheduleStatus.ACTIVE:
        return False
    if done.runs_out:
        return True
    waits = sets.get("awaited", schedule.awaited) is not None
    makes_up = any(span.id == MISSED for span in sets["spans"])
    return sets.get("next_at", schedule.next_at) is None and not waits and not makes_up
