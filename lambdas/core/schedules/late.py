"""late: occurrences that are tasks already, and that cannot start in time.

A task exists up to a horizon before its fire time. If no executor takes it in time, because the
runner was down, the lane was crowded or a message was lost, the misfire policy decides where the
run would start: `skip` drops it, `run_once` drops all but the latest, `run_all` runs them one after
another. The last two need an order among tasks whose messages arrive in any order, so the executor
notes a span of late fire times in the schedule, and the span releases its tasks one by one. The
note is one conditional write: whoever loses it finds the span and leaves its task to it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile

from lambdas.core.occurrence import Occurrence
from lambdas.core.schedules.decisions import MISFIRE, Park, Skip
from lambdas.core.schedules.misfires import made_up_span, missed_until
from lambdas.core.schedules.passes import Pass, own_id
from lambdas.core.schedules.plan import MisfirePolicy
from lambdas.core.schedules.schedule import LATE, Schedule, ScheduleStatus, Span
from lambdas.core.schedules.times import after, backwards
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis

MOST = 1_000  # tasks of a span that one look considers
SLOW: Millis = MINUTE  # from a scanner's look at the clock to the write that it is for


def judge(
    schedule: Schedule, occurrence: Occurrence, now: Millis, horizon: Millis
) -> Skip | Park | None:
    """What the misfire policy makes of an occurrence that is about to start; None: it may."""
    plan, at = schedule.plan, occurrence.scheduled_for
    policy = plan.misfire.policy
    if any(span.own and span.serial and span.covers(at) for span in schedule.spans):
        return Park()
    if policy is MisfirePolicy.RUN_ONCE and at < schedule.settled_until:
        return Skip(reason=MISFIRE)
    if now <= at + plan.lateness:
        return None
    if policy is MisfirePolicy.SKIP or at < plan.too_old(now):
        return Skip(reason=MISFIRE)
    if _has_no_order(schedule):
        return None
    return Park(schedule=with_late(schedule, at, now, horizon))


def _has_no_order(schedule: Schedule) -> bool:
    """Late runs need not wait for each other if they may overlap, if there is only one at a time,
    or if the rule that orders them cannot be evaluated any more."""
    plan, broken = schedule.plan, schedule.status is ScheduleStatus.BROKEN
    return not plan.makes_up_in_order or plan.delay is not None or broken


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
    ceilings = [
        missed_until(plan, now),
        put_until,
        *(s.next_at for s in own if s.until > fire_time),
    ]
    until = max(min(ceilings), fire_time + 1)
    span = made_up_span(plan, LATE, start, until, now)
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
    them are tasks, and as late: if all of them are to run in order, they come first."""
    span = _before(done.schedule, fire_time, horizon)
    if span is None or done.schedule.plan.misfire.policy is not MisfirePolicy.RUN_ALL:
        return
    times = _fire_times(done.schedule, span)
    if any(_unstarted(done, at) is not None for at in times):
        done.sets["spans"] = _in_order(done.sets["spans"], replace(span, due_at=done.seen_at))


def _before(schedule: Schedule, fire_time: Millis, horizon: Millis) -> Span | None:
    """None if their runs do not wait for each other, or if such a span exists."""
    start = max(fire_time - horizon - SLOW, schedule.since + 1)
    span = made_up_span(schedule.plan, LATE, start, fire_time, start)
    known = any(s.id == LATE and s.until >= fire_time for s in schedule.spans)
    return None if known or not span.serial or start >= fire_time else span


def _in_order(spans: Sequence[Span], late: Span) -> tuple[Span, ...]:
    """A span of late fire times goes before the first one with later fire times of the rule."""
    place = next((n for n, s in enumerate(spans) if s.own and s.next_at >= late.until), len(spans))
    return (*spans[:place], late, *spans[place:])


def release(done: Pass, span: Span) -> Span | None:
    """Let the next run of the span go; what is left of the span, None if nothing is."""
    schedule = done.schedule
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
