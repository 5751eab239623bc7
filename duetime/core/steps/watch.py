"""watch: a wake has come; look at the task and decide."""

from typing import Any

from lambdas.core import lease
from lambdas.core.change import Change, Expect
from lambdas.core.delivery import delivery_of
from lambdas.core.lifecycle import Status, Step, sources
from lambdas.core.rules import FIRST_WATCH, WATCH_SPREAD, Draw, Rules
from lambdas.core.steps.cancel import cancel, expire
from lambdas.core.steps.claim import claim, release
from lambdas.core.steps.record import lease_expired, leaves_delivery
from lambdas.core.steps.settle import hasten
from lambdas.core.task import Task
from lambdas.core.times import HOUR, MINUTE, Millis
from lambdas.core.values import value
from lambdas.core.wakes import WakeKind

SECOND_WATCH: Millis = 15 * MINUTE
LONGEST_WATCH: Millis = 6 * HOUR
MAX_SKIPS = 3


@value(frozen=True, kw_only=True, slots=True)
class Verdict:
    change: Change
    sends: bool  # once the change stands, the delivery goes out
    reason: str


def look(rules: Rules, task: Task, *, now: Millis, draw: Draw, backed_up: bool) -> Verdict | None:
    """What a wake whose time has come calls for; None if nothing is left to do."""
    if task.wake is None or task.status.finished:
        return None
    if task.status is Status.RUNNING:
        return _look_at_running(rules, task, now=now, draw=draw)
    if task.cancel_requested:  # while it ran; the attempt failed before it heard of it
        return Verdict(change=cancel(task, now=now), sends=False, reason="cancelled")
    if task.expired(now):
        return Verdict(change=expire(task, now=now), sends=False, reason="expired")
    if task.wake.kind is WakeKind.DISPATCH:
        change = claim(rules, task.wake, now=now, draw=draw, before=task.status)
        return Verdict(change=change, sends=True, reason="due")
    return _look_at_sent(rules, task, now=now, draw=draw, backed_up=backed_up)


def orphan(rules: Rules, task: Task, *, now: Millis) -> Change | None:
    """After a restart of the only runner no message is out and no holder lives: every delivery
    is to be made again, every lease has run out. None if the task waits for its time anyway."""
    if task.status is Status.RUNNING:
        return _move(rules, task, now, now=now, lease_until=now - lease.GRACE - 1)
    if task.wake is None or task.wake.kind is WakeKind.DISPATCH:
        return None
    if task.owes:
        return hasten(task, now)
    return release(rules, delivery_of(task, now), now=now)


def _look_at_running(rules: Rules, task: Task, *, now: Millis, draw: Draw) -> Verdict:
    if lease.run_out(task.lease_until, now):
        change = lease_expired(rules, task, now=now, draw=draw)
        return Verdict(change=change, sends=leaves_delivery(change), reason="lease run out")
    at = (task.lease_until or now) + lease.WATCH_AFTER
    return Verdict(change=_move(rules, task, at, now=now), sends=False, reason="running")


def _look_at_sent(rules: Rules, task: Task, *, now: Millis, draw: Draw, backed_up: bool) -> Verdict:
    """A message that was not taken is lost, or stands in a long line: a backlog must neither
    multiply messages nor push a task back, so a crowded lane gets no second copy at first."""
    if backed_up and task.skips < MAX_SKIPS:
        at = now + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
        change = _move(rules, task, at, now=now, skips=task.skips + 1)
        return Verdict(change=change, sends=False, reason="lane backed up")
    at = now + min(SECOND_WATCH * 2**task.sends, LONGEST_WATCH)
    change = _move(rules, task, at, now=now, sends=task.sends + 1, skips=0)
    return Verdict(change=change, sends=True, reason="message not taken")


def _move(rules: Rules, task: Task, at: Millis, *, now: Millis, **sets: Any) -> Change:
    """Move the watch; a task that was leased, finished or claimed meanwhile needs it no more."""
    return Change(
        step=Step.WATCH,
        task_id=task.id,
        expect=Expect(
            statuses=frozenset({task.status}) & sources(Step.WATCH),
            wake=task.wake,
            lease_until=task.lease_until,
        ),
        sets={"wake": rules.wake(WakeKind.WATCH, task.id, task.lane, at, now=now), **sets},
    )
