"""The fire times of a schedule: those of its rule, within its bounds."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, takewhile

from duetime.core.recurrence.fire_times import fire_times
from duetime.core.recurrence.rules import RateRule, Recurrence, Rule
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import MINUTE, Millis

SPARSE = 50  # with fewer fire times in a stretch, the next stretch is four times as long
DENSE = 500  # with more, this stretch is cut: a rule that rests for long may then be dense
FIRST_STRETCH: Millis = 10 * MINUTE


def after(plan: Plan, at: Millis) -> Iterator[Millis]:
    """Yields the fire times strictly after an instant. For a delay the instant is the end of a run,
    and only one fire time is known."""
    if plan.starts_at is not None:
        at = max(at, plan.starts_at - 1)
    last = None if plan.ends_at is None else plan.ends_at - 1
    if plan.delay is None:
        return fire_times(plan.recurrence, at, last)
    only = at + plan.delay
    return iter([only] if last is None or only <= last else [])


def backfill_fire_times(plan: Plan, at: Millis) -> Iterator[Millis]:
    """Yields the fire times from an instant on, as if the rule had always existed: a rate extends
    to before its anchor, which is by default the time of its creation."""
    rules = tuple(_extended_back(rule, at) for rule in plan.recurrence.rules)
    return after(replace(plan, recurrence=replace(plan.recurrence, rules=rules)), at - 1)


def first(plan: Plan, at: Millis) -> Millis | None:
    return next(after(plan, at), None)


def backwards(recurrence: Recurrence, start: Millis, below: Millis) -> Iterator[Millis]:
    """Yields the fire times from before `below` down to `start`, latest first. A rule can only be
    searched forwards, so they are found stretch by stretch."""
    stretch = FIRST_STRETCH
    while below > start:
        floor = max(below - stretch, start)
        found = list(islice(fire_times(recurrence, floor - 1, below - 1), DENSE + 1))
        if len(found) > DENSE:
            stretch //= 4
            continue
        yield from reversed(found)
        below = floor
        if len(found) < SPARSE:
            stretch *= 4


def upcoming(schedule: Schedule, now: Millis) -> Iterator[Millis]:
    """Yields the known future fire times, including those that are tasks already."""
    if schedule.status in (ScheduleStatus.PAUSED, ScheduleStatus.BROKEN):
        return iter(())
    plan, next_at = schedule.plan, schedule.next_at
    if plan.delay is not None:
        ahead = [at for at in (*schedule.put_at, next_at) if at is not None and at > now]
        return iter(ahead[-1:])
    times = after(plan, max(now, schedule.since))
    if next_at is None:
        return _before(times, max(schedule.put_at, default=0) + 1)
    if plan.max_runs is None:
        return times
    already = sum(1 for _ in _before(times, next_at))
    return islice(after(plan, max(now, schedule.since)), already + plan.max_runs - schedule.runs)


def not_put(schedule: Schedule, start: Millis, end: Millis) -> Iterator[Millis]:
    """Yields the fire times of the rule from `start` to before `end` that are not tasks yet."""
    next_at, plan = schedule.next_at, schedule.plan
    if schedule.status is not ScheduleStatus.ACTIVE or next_at is None:
        return iter(())
    if plan.delay is not None:
        return iter([next_at] if start <= next_at < end else [])
    times = takewhile(lambda at: at < end, after(plan, max(next_at, start) - 1))
    return times if plan.max_runs is None else islice(times, max(plan.max_runs - schedule.runs, 0))


def runs_so_far(schedule: Schedule, now: Millis) -> int:
    """Returns the number of runs without those whose fire time is still to come."""
    last = max(schedule.put_at, default=0)
    if last <= now or schedule.status is ScheduleStatus.BROKEN:  # its rule cannot be evaluated
        return schedule.runs
    if schedule.plan.delay is not None:
        return schedule.runs - 1
    ahead = _before(after(schedule.plan, max(now, schedule.since)), last + 1)
    return schedule.runs - sum(1 for _ in ahead)


def last_fired_at(schedule: Schedule, now: Millis) -> Millis | None:
    """Returns the last fire time that has passed: one of the last two that became tasks, unless
    both are still to come, less than a horizon away; then the rule is searched."""
    past = [at for at in schedule.put_at if at <= now]
    if past or not schedule.put_at or schedule.status is ScheduleStatus.BROKEN:
        return max(past, default=None)
    start = max(schedule.since, schedule.plan.starts_at or 0)
    return next(backwards(schedule.plan.recurrence, start + 1, now + 1), None)


def latest(schedule: Schedule, fire_times: Iterable[Millis]) -> tuple[Millis, ...]:
    """Returns the new `put_at` after these fire times have become tasks: the last two."""
    return tuple(sorted({*fire_times, *schedule.put_at})[-2:])


def _extended_back(rule: Rule, at: Millis) -> Rule:
    if not isinstance(rule, RateRule) or rule.anchor <= at:
        return rule
    return replace(rule, anchor=at - (at - rule.anchor) % rule.every)


def _before(times: Iterator[Millis], end: Millis) -> Iterator[Millis]:
    for at in times:
        if at >= end:
            return
        yield at
