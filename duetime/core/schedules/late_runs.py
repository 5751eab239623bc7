"""Late runs: occurrences that are tasks already, but could not start in time.

A task exists up to a horizon before its fire time. If no executor takes it in time, because the
runner was down, the lane was backed up or a message was lost, the misfire policy decides when the
run is about to start: `skip` drops it, `run_once` drops all but the latest, `run_all` runs them one
after another. The last two need an order among tasks whose messages arrive in any order, so the
executor adds a span of late fire times to the schedule, and the span releases its tasks one by one.
If all of them run and may overlap, the span gives each a start time at the pace instead. Adding the
span is one conditional write: an executor that loses the race finds the span of the winner, and
leaves its task to it.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, takewhile

from duetime.core.occurrence import Occurrence
from duetime.core.schedules.fire_times import after, backwards
from duetime.core.schedules.lookahead_pass import LookaheadPass, task_id_of
from duetime.core.schedules.misfires import catch_up_span, missed_until
from duetime.core.schedules.plan import MisfirePolicy
from duetime.core.schedules.schedule import LATE, Schedule, ScheduleStatus, Span
from duetime.core.schedules.start_decisions import MISFIRE, Park, Skip, Start, Wait
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis

MAX_LATE_TASKS = 1_000  # of a span, in one pass
EARLY_DELIVERY: Millis = 2 * SECOND  # a queue with whole seconds delivers up to so much early
SCANNER_DELAY: Millis = MINUTE  # from a scanner's reading of the clock to its write


def decide_late_run(
    schedule: Schedule, occurrence: Occurrence, now: Millis, horizon: Millis
) -> Skip | Park | Wait | Start | None:
    """Decides by the misfire policy whether a run may start; None: it may."""
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
    return (
        Park(schedule=with_late_span(*late)) if plan.catches_up_in_order else _wait_for_start(*late)
    )


def _wait_for_start(
    schedule: Schedule, fire_time: Millis, now: Millis, horizon: Millis
) -> Wait | Start:
    """The runs may overlap, so each starts at its own time in the span. A run that comes too early
    is sent again with a delay, even if only milliseconds are missing."""
    found = _late_span(schedule, fire_time)
    noted = None if found else with_late_span(schedule, fire_time, now, horizon)
    span = found or _late_span(noted or schedule, fire_time)
    start = now if span is None else _start_of(schedule, span, fire_time)
    if start <= now:
        return Start(schedule=noted)
    return Wait(schedule=noted, until=min(start, now + horizon) + EARLY_DELIVERY)


def _late_span(schedule: Schedule, fire_time: Millis) -> Span | None:
    return next((s for s in schedule.spans if s.id == LATE and s.covers(fire_time)), None)


def _start_of(schedule: Schedule, span: Span, fire_time: Millis) -> Millis:
    """Returns when the run of a fire time starts, by the pace of a span that is not serial."""
    times = takewhile(lambda at: at < fire_time, after(schedule.plan, span.next_at - 1))
    return span.due_at + span.interval * sum(1 for _ in times)


def _over_at(schedule: Schedule, span: Span) -> Millis:
    """Returns when other runs may start at the pace; the span's own may arrive a little late."""
    return _start_of(schedule, span, span.until) + EARLY_DELIVERY


def _has_no_order(schedule: Schedule) -> bool:
    """Whether late runs need no order: a delay has only one run at a time, and a broken rule, which
    cannot be evaluated, cannot order them."""
    return schedule.plan.delay is not None or schedule.status is ScheduleStatus.BROKEN


def with_late_span(schedule: Schedule, fire_time: Millis, now: Millis, horizon: Millis) -> Schedule:
    """Returns the schedule with a span that covers a late fire time, and every other fire time that
    is a task and may be late too: tasks are put at most a horizon ahead."""
    plan = schedule.plan
    put_until = min(now, _next_fire_time(schedule, now))
    own = [span for span in schedule.spans if span.own]
    floors = [
        schedule.since + 1,
        plan.too_old(now),
        *(s.until for s in own if s.until <= fire_time),
    ]
    start = min(max(put_until - horizon - SCANNER_DELAY, *floors), fire_time)
    if not plan.catches_up_in_order:
        start = fire_time  # an earlier one may have run, and would use up a start time
    ceilings = [
        missed_until(plan, now),
        put_until,
        *(s.next_at for s in own if s.until > fire_time),
    ]
    until = max(min(ceilings), fire_time + 1)
    earlier = [_over_at(schedule, s) for s in own if s.id == LATE and not s.serial]
    span = catch_up_span(plan, LATE, start, until, max(now, *earlier, 0))
    return replace(schedule, spans=_in_order(schedule.spans, span))


def _next_fire_time(schedule: Schedule, now: Millis) -> Millis:
    """Returns the first fire time that is no task yet. A finished schedule has no next fire time:
    nothing after its last task can be late."""
    if schedule.next_at is not None:
        return schedule.next_at
    return max(schedule.put_at, default=now) + 1


def task_ids(schedule: Schedule, span: Span) -> list[str]:
    """Returns the ids of the tasks that a span of late fire times may release."""
    return [task_id_of(schedule, at) for at in _fire_times(schedule, span)]


def task_ids_before(schedule: Schedule, fire_time: Millis, horizon: Millis) -> list[str]:
    """Returns the ids of the tasks just before a missed fire time: see add_late_span_before."""
    span = _before(schedule, fire_time, horizon)
    return [] if span is None else task_ids(schedule, span)


def add_late_span_before(done: LookaheadPass, fire_time: Millis, horizon: Millis) -> None:
    """Adds a span for the tasks just before a missed fire time. After a long outage the scanner
    finds fire times that never became tasks; those just before them are tasks, and late too. With
    run_all they run first."""
    span = _before(done.schedule, fire_time, horizon)
    if span is None or done.schedule.plan.misfire.policy is not MisfirePolicy.RUN_ALL:
        return
    times = _fire_times(done.schedule, span)
    first = next((at for at in times if _unstarted(done, at) is not None), None)
    if first is not None:
        span = replace(span, next_at=first, due_at=done.seen_at)
        done.sets["spans"] = _in_order(done.sets["spans"], span)


def _before(schedule: Schedule, fire_time: Millis, horizon: Millis) -> Span | None:
    """Returns the span of the tasks before a fire time; None if there are none, or it exists."""
    start = max(fire_time - horizon - SCANNER_DELAY, schedule.since + 1)
    span = catch_up_span(schedule.plan, LATE, start, fire_time, start)
    known = any(s.id == LATE and s.until >= fire_time for s in schedule.spans)
    return None if known or start >= fire_time else span


def _in_order(spans: Sequence[Span], late: Span) -> tuple[Span, ...]:
    """Inserts a late span before the first span with later fire times of the rule."""
    place = next((n for n, s in enumerate(spans) if s.own and s.next_at >= late.until), len(spans))
    return (*spans[:place], late, *spans[place:])


def release(done: LookaheadPass, span: Span) -> Span | None:
    """Releases the next run of a span. Returns what is left of the span, None if nothing is. The
    runs of a span that is not serial start by the clock, so the span is kept until the last
    start."""
    schedule = done.schedule
    if not span.serial:
        over_at = _over_at(schedule, span)
        done.catch_up_from = max(done.catch_up_from, over_at)
        return span if done.seen_at < over_at else None
    times = _fire_times(schedule, span)
    late = [(at, task) for at in times if (task := _unstarted(done, at)) is not None]
    if schedule.plan.misfire.policy is MisfirePolicy.RUN_ONCE:
        done.sets["settled_until"] = max(schedule.settled_until, span.until)
        superseded = any(s.own and s.next_at >= span.until for s in schedule.spans)
        done.drops += [task for _, task in (late if superseded else late[:-1])]
        late = [] if superseded else late[-1:]
    elif not late and len(times) == MAX_LATE_TASKS:
        done.more = True
        return replace(span, next_at=times[-1] + 1)
    if not late:
        done.catch_up_from = max(done.catch_up_from, span.due_at)
        return None
    at, task = late[0]
    done.releases.append((task, max(span.due_at, done.catch_up_from, done.seen_at)))
    return replace(span, next_at=at + 1).with_run(task.id, done.seen_at)


def _fire_times(schedule: Schedule, span: Span) -> list[Millis]:
    """Returns the oldest fire times of a span, or the latest with run_once, in order."""
    plan = schedule.plan
    if plan.misfire.policy is MisfirePolicy.RUN_ONCE:
        return sorted(islice(backwards(plan.recurrence, span.next_at, span.until), MAX_LATE_TASKS))
    times = after(plan, span.next_at - 1)
    return list(islice(takewhile(lambda at: at < span.until, times), MAX_LATE_TASKS))


def _unstarted(done: LookaheadPass, fire_time: Millis) -> Task | None:
    """Returns the task of a fire time if it may be late; a waiting task was in time."""
    schedule = done.schedule
    task = done.known_tasks.get(task_id_of(schedule, fire_time))
    if task is None or task.attempt > 0 or task.status.finished:
        return None
    return None if task.id in (schedule.active, *schedule.waiting) else task
