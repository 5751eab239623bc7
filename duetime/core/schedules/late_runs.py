"""late: occurrences that are tasks already, and that cannot start in time.

A task exists up to a horizon before its fire time. If no executor takes it in time, because the
runner was down, the lane was crowded or a message was lost, the misfire policy decides where the
run would start: `skip` drops it, `run_once` drops all but the latest, `run_all` runs them one after
another. The last two need an order among tasks whose messages arrive in any order, so the executor
notes a span of late fire times in the schedule, and the span releases its tasks one by one. If all
of them are to run and may overlap, the span has a time for each instead, at the pace. The note is
one conditional write: whoever loses it finds the span and leaves its task to it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile

from lambdas.core.occurrence import Occurrence
from lambdas.core.schedules.decisions import MISFIRE, Park, Skip, Start, Wait
from lambdas.core.schedules.misfires import made_up_span, missed_until
from lambdas.core.schedules.passes import Pass, own_id
from lambdas.core.schedules.plan import MisfirePolicy
from lambdas.core.schedules.schedule import LATE, Schedule, ScheduleStatus, Span
from lambdas.core.schedules.times import after, backwards
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, SECOND, Millis

MOST = 1_000  # tasks of a span that one look considers
SHOWN_AHEAD: Millis = 2 * SECOND  # a queue of whole seconds shows a message so much too early
SLOW: Millis = MINUTE  # from a scanner's look at the clock to the write that it is for


def judge(
    schedule: Schedule, occurrence: Occurrence, now: Millis, horizon: Millis
) -> Skip | Park | Wait | Start | None:
    """What the misfire policy makes of an occurrence that is about to start; None: it may."""
    plan, at = schedule.plan, occurrence.scheduled_for
    policy = plan.misfire.policy
    covering = [span for span in schedule.spans if span.own and span.covers(at)]
    if any(span.serial for span in covering):
        return Park()
    if policy is MisfirePolicy.RUN_ONCE and at < schedule.settled_until:
        return Skip(reason=MISFIRE)
    if now <= at + plan.lateness:
        return None
    if policy is MisfirePolicy.SKIP or (at < plan.too_old(now) and not covering):
        return Skip(reason=MISFIRE)
    if _has_no_order(schedule):
        return None
    late = (schedule, at, now, horizon)
    return Park(schedule=with_late(*late)) if plan.makes_up_in_order else _wait_for_start(*late)


def _wait_for_start(
    schedule: Schedule, fire_time: Millis, now: Millis, horizon: Millis
) -> Wait | Start:
    """The runs may overlap: each starts at its time in the span. One that comes too early is sent
    again with a delay, however little is missing."""
    found = _late_span(schedule, fire_time)
    noted = None if found else with_late(schedule, fire_time, now, horizon)
    span = found or _late_span(noted or schedule, fire_time)
    start = now if span is None else _start_of(schedule, span, fire_time)
    if start <= now:
        return Start(schedule=noted)
    return Wait(schedule=noted, until=min(start, now + horizon) + SHOWN_AHEAD)


def _late_span(schedule: Schedule, fire_time: Millis) -> Span | None:
    return next((s for s in schedule.spans if s.id == LATE and s.covers(fire_time)), None)


def _start_of(schedule: Schedule, span: Span, fire_time: Millis) -> Millis:
    """When the run of a fire time starts, by the pace of a span that is not serial."""
    times = takewhile(lambda at: at < fire_time, after(schedule.plan, span.next_at - 1))
    return span.due_at + span.interval * sum(1 for _ in times)


def _over_at(schedule: Schedule, span: Span) -> Millis:
    """From when on other runs may start at the pace: those of the span may come a little late."""
    return _start_of(schedule, span, span.until) + SHOWN_AHEAD


def _has_no_order(schedule: Schedule) -> bool:
    """Late runs do not wait for their turns if there is only one at a time, or if the rule that
    orders them cannot be evaluated any more."""
    return schedule.plan.delay is not None or schedule.status is ScheduleStatus.BROKEN


def with_late(schedule: Schedule, fire_time: Millis, now: Millis, horizon: Millis) -> Schedule:
    """The schedule with a span that covers a late fire time, and every other one that is a task
    and may be late as well: tasks are put at most a horizon ahead."""
    plan = schedule.plan
    put_until = now if schedule.next_at is None else min(now, schedule.next_at)
    own = [span for span in schedule.spans if span.own]
    floors = [
        schedule.since + 1,
        plan.too_old(now),
        *(s.until for s in own if s.until <= fire_time),
    ]
    start = min(max(put_until - horizon - SLOW, *floors), fire_time)
    if not plan.makes_up_in_order:
        start = fire_time  # a fire time before it may have run, and would take up a start
    ceilings = [
        missed_until(plan, now),
        put_until,
        *(s.next_at for s in own if s.until > fire_time),
    ]
    until = max(min(ceilings), fire_time + 1)
    earlier = [_over_at(schedule, s) for s in own if s.id == LATE and not s.serial]
    span = made_up_span(plan, LATE, start, until, max(now, *earlier, 0))
    return replace(schedule, spans=_in_order(schedule.spans, span))


def task_ids(schedule: Schedule, span: Span) -> list[str]:
    """The tasks that a span of late fire times may release."""
    return [own_id(schedule, at) for at in _fire_times(schedule, span)]


def task_ids_before(schedule: Schedule, fire_time: Millis, horizon: Millis) -> list[str]:
    """The tasks of the fire times that were put ahead of one that was missed: see note_before."""
    span = _before(schedule, fire_time, horizon)
    return [] if span is None else task_ids(schedule, span)


def note_before(done: Pass, fire_time: Millis, horizon: Millis) -> None:
    """After a long outage the scanner finds fire times that never became tasks. Those just before
    them are tasks, and as late: if all of them are to run, they come first."""
    span = _before(done.schedule, fire_time, horizon)
    if span is None or done.schedule.plan.misfire.policy is not MisfirePolicy.RUN_ALL:
        return
    times = _fire_times(done.schedule, span)
    first = next((at for at in times if _unstarted(done, at) is not None), None)
    if first is not None:
        span = replace(span, next_at=first, due_at=done.seen_at)
        done.sets["spans"] = _in_order(done.sets["spans"], span)


def _before(schedule: Schedule, fire_time: Millis, horizon: Millis) -> Span | None:
    """None if there is nothing before, or if such a span exists."""
    start = max(fire_time - horizon - SLOW, schedule.since + 1)
    span = made_up_span(schedule.plan, LATE, start, fire_time, start)
    known = any(s.id == LATE and s.until >= fire_time for s in schedule.spans)
    return None if known or start >= fire_time else span


def _in_order(spans: Sequence[Span], late: Span) -> tuple[Span, ...]:
    """A span of late fire times goes before the first one with later fire times of the rule."""
    place = next((n for n, s in enumerate(spans) if s.own and s.next_at >= late.until), len(spans))
    return (*spans[:place], late, *spans[place:])


def release(done: Pass, span: Span) -> Span | None:
    """Let the next run of the span go; what is left of the span, None if nothing is. The runs of
    a span that is not serial go by the clock, so it stays until the last of them has gone."""
    schedule = done.schedule
    if not span.serial:
        over_at = _over_at(schedule, span)
        done.paced = max(done.paced, over_at)
        return span if done.seen_at < over_at else None
    times = _fire_times(schedule, span)
    late = [(at, task) for at in times if (task := _unstarted(done, at)) is not None]
    if schedule.plan.misfire.policy is MisfirePolicy.RUN_ONCE:
        done.sets["settled_until"] = max(schedule.settled_until, span.until)
        superseded = any(s.own and s.next_at >= span.until for s in schedule.spans)
        done.drops += [task for _, task in (late if superseded else late[:-1])]
        late = [] if superseded else late[-1:]
    elif not late and len(times) == MOST:
        done.more = True
        return replace(span, next_at=times[-1] + 1)
    if not late:
        done.paced = max(done.paced, span.due_at)
        return None
    at, task = late[0]
    done.releases.append((task, max(span.due_at, done.paced, done.seen_at)))
    return replace(span, next_at=at + 1).begun(task.id, done.seen_at)


def _fire_times(schedule: Schedule, span: Span) -> list[Millis]:
    """The oldest of them; with run_once the latest. In order."""
    plan = schedule.plan
    if plan.misfire.policy is MisfirePolicy.RUN_ONCE:
        return sorted(islice(backwards(plan.recurrence, span.next_at, span.until), MOST))
    times = after(plan, span.next_at - 1)
    return list(islice(takewhile(lambda at: at < span.until, times), MOST))


def _unstarted(done: Pass, fire_time: Millis) -> Task | None:
    """The task of a fire time, if it may be late: one that waits for the end of another run was
    in time."""
    schedule = done.schedule
    task = done.known.get(own_id(schedule, fire_time))
    if task is None or task.attempt > 0 or task.status.finished:
        return None
    return None if task.id in (schedule.active, *schedule.waiting) else task
