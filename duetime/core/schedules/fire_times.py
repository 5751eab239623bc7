"""The fire times of a schedule: its rule's, within its bounds."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from lambdas.core.recurrence.fire_times import fire_times
from lambdas.core.recurrence.rules import RateRule, Recurrence, Rule
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.times import MINUTE, Millis

FEW = 50  # fire times found in a stretch, below which the next stretch is four times as long
MANY = 500  # above which this one is made shorter: a rule that rests for long may then be dense
FIRST_STRETCH: Millis = 10 * MINUTE


def after(plan: Plan, at: Millis) -> Iterator[Millis]:
    """Those strictly after an instant. Of a delay only the first is known: the instant is then
    taken for the end of a run."""
    if plan.starts_at is not None:
        at = max(at, plan.starts_at - 1)
    last = None if plan.ends_at is None else plan.ends_at - 1
    if plan.delay is None:
        return fire_times(plan.recurrence, at, last)
    only = at + plan.delay
    return iter([only] if last is None or only <= last else [])


def from_of_old(plan: Plan, at: Millis) -> Iterator[Millis]:
    """Those from an instant on, as if the rule had always been: a rate goes back beyond its anchor,
    which is when it was created, if nobody has said more. For backfills."""
    rules = tuple(_of_old(rule, at) for rule in plan.recurrence.rules)
    return after(replace(plan, recurrence=replace(plan.recurrence, rules=rules)), at - 1)


def first(plan: Plan, at: Millis) -> Millis | None:
    return next(after(plan, at), None)


def backwards(recurrence: Recurrence, start: Millis, below: Millis) -> Iterator[Millis]:
    """From before one instant down to another, the latest first. A rule only looks ahead, so
    they are found stretch by stretch."""
    stretch = FIRST_STRETCH
    while below > start:
        floor = max(below - stretch, start)
        found = list(islice(fire_times(recurrence, floor - 1, below - 1), MANY + 1))
        if len(found) > MANY:
            stretch //= 4
            continue
        yield from reversed(found)
        below = floor
        if len(found) < FEW:
            stretch *= 4


def upcoming(schedule: Schedule, now: Millis) -> Iterator[Millis]:
    """What will fire, as far as it is known: what is a task already, and what is to be one."""
    if schedule.status in (ScheduleStatus.PAUSED, ScheduleStatus.BROKEN):
        return iter(())
    plan, next_at = schedule.plan, schedule.next_at
    if plan.delay is not None:
        ahead = [at for at in (*schedule.put_at, next_at) if at is not None and at > now]
        return iter(ahead[-1:])
    begun = after(plan, max(now, schedule.since))
    if next_at is None:
        return _before(begun, max(schedule.put_at, default=0) + 1)
    if plan.max_runs is None:
        return begun
    already = sum(1 for _ in _before(begun, next_at))
    return islice(after(plan, max(now, schedule.since)), already + plan.max_runs - schedule.runs)


def runs_so_far(schedule: Schedule, now: Millis) -> int:
    """Without those that are tasks already, but still to come."""
    last = max(schedule.put_at, default=0)
    if last <= now or schedule.status is ScheduleStatus.BROKEN:  # its rule says nothing any more
        return schedule.runs
    if schedule.plan.delay is not None:
        return schedule.runs - 1
    ahead = _before(after(schedule.plan, max(now, schedule.since)), last + 1)
    return schedule.runs - sum(1 for _ in ahead)


def last_fired_at(schedule: Schedule, now: Millis) -> Millis | None:
    """The last two that became tasks tell, unless the next two are less than a horizon away;
    then the rule does."""
    past = [at for at in schedule.put_at if at <= now]
    if past or not schedule.put_at or schedule.status is ScheduleStatus.BROKEN:
        return max(past, default=None)
    begun = max(schedule.since, schedule.plan.starts_at or 0)
    return next(backwards(schedule.plan.recurrence, begun + 1, now + 1), None)


def latest(schedule: Schedule, fire_times: Iterable[Millis]) -> tuple[Millis, ...]:
    """The last two that became tasks, when these have."""
    return tuple(sorted({*fire_times, *schedule.put_at})[-2:])


def _of_old(rule: Rule, at: Millis) -> Rule:
    if not isinstance(rule, RateRule) or rule.anchor <= at:
        return rule
    return replace(rule, anchor=at - (at - rule.anchor) % rule.every)


def _before(times: Iterator[Millis], end: Millis) -> Iterator[Millis]:
    for at in times:
        if at >= end:
            return
        yield at
