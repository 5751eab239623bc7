"""watch: the scanner checks a task whose wake has come due."""

from typing import Any

from duetime.core.change import Change, Expect
from duetime.core.delivery import delivery_of
from duetime.core.lifecycle import Status, Step, sources
from duetime.core.steps import lease
from duetime.core.steps.cancel import cancel, expire
from duetime.core.steps.claim import claim, release
from duetime.core.steps.follow_up import follow_up_now
from duetime.core.steps.promote import is_aged, promote, waiting_since
from duetime.core.steps.record import lease_expired, leaves_delivery
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, HOUR, MINUTE, Millis
from duetime.core.value import value
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD, Draw, WakePolicy
from duetime.core.wakes import Wake, WakeKind

SECOND_WATCH: Millis = 15 * MINUTE
LONGEST_WATCH: Millis = 6 * HOUR
HELD_WATCH: Millis = HOUR  # of a task that waits in a line, which has a watch of its own
MAX_SKIPS = 3


@value(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the scanner does with a task."""

    change: Change
    enqueues: bool  # once the change is applied, the delivery is sent
    reason: str  # for the log


def check_wake(
    wake_policy: WakePolicy, task: Task, *, now: Millis, draw: Draw, backed_up: bool
) -> Verdict | None:
    """Decides what to do with a task whose wake has come due; None if nothing is left to do."""
    if task.wake is None or task.status.finished or task.status is Status.WAITING:
        return None
    if task.status is Status.RUNNING:
        return _check_running(wake_policy, task, now=now, draw=draw)
    if task.cancel_requested:  # during an attempt that failed before it learned of it
        return Verdict(change=cancel(task, now=now), enqueues=False, reason="cancelled")
    if task.expired(now):
        return Verdict(change=expire(task, now=now), enqueues=False, reason="expired")
    if task.wake.kind is WakeKind.DISPATCH:
        change = claim(wake_policy, task.wake, now=now, draw=draw, before=task.status)
        return Verdict(change=change, enqueues=True, reason="due")
    return _check_sent(wake_policy, task, now=now, draw=draw, backed_up=backed_up)


def check_held(wake_policy: WakePolicy, task: Task, *, now: Millis) -> Verdict | None:
    """Decides about a task that waits in its line: it has no message, and needs none. Returns None
    if its wake says something else."""
    if task.wake is None or task.wake.kind is not WakeKind.WATCH or task.status.finished:
        return None
    if task.status is Status.RUNNING or task.cancel_requested or task.expired(now):
        return None
    at = now + HELD_WATCH
    if task.spec.expires_at is not None and task.attempt == 0:
        at = min(at, task.spec.expires_at)
    change = _move(wake_policy, task, at, now=now)
    return Verdict(change=change, enqueues=False, reason="waits in its line")


def watch_dead_holder(wake_policy: WakePolicy, task: Task, *, now: Millis) -> Change | None:
    """Brings the watch of a running task forward whose lease has run out while others wait for its
    slot. The watch of a task that has waited in a line itself may be an hour away. Returns None if
    the task needs none."""
    if task.status is not Status.RUNNING or not lease.run_out(task.lease_until, now):
        return None
    if task.wake is None or task.wake.at <= now:
        return None
    return _move(wake_policy, task, now, now=now)


def recover_orphan(wake_policy: WakePolicy, task: Task, *, now: Millis) -> Change | None:
    """Recovers a task after a restart of the only runner: no message has survived, so every
    delivery must be sent again. No holder has, except HTTP workers, so every other lease has run
    out. None if the task waits for its due time, and needs nothing.

    A worker goes on while the runner is down. Its lease stays as it is, and a worker whose lease
    has run out meanwhile gets RETURN_TIME to report its outcome before the attempt is ended."""
    if task.status is Status.RUNNING and lease.held_by_worker(task):
        at = max((task.lease_until or now) + CLOCK_SKEW, now + lease.RETURN_TIME)
        return _move(wake_policy, task, at, now=now)
    if task.status is Status.RUNNING:
        return _move(wake_policy, task, now, now=now, lease_until=now - CLOCK_SKEW - 1)
    if task.wake is None or task.wake.kind is WakeKind.DISPATCH:
        return None
    if task.has_follow_up:
        return follow_up_now(task, now)
    if task.status is Status.WAITING:  # what it waits for may have ended meanwhile
        return _move(wake_policy, task, now, now=now)
    return release(wake_policy, delivery_of(task, now), now=now)


def _check_running(wake_policy: WakePolicy, task: Task, *, now: Millis, draw: Draw) -> Verdict:
    if lease.run_out(task.lease_until, now):
        change = lease_expired(wake_policy, task, now=now, draw=draw)
        return Verdict(change=change, enqueues=leaves_delivery(change), reason="lease run out")
    at = (task.lease_until or now) + lease.WATCH_AFTER
    return Verdict(change=_move(wake_policy, task, at, now=now), enqueues=False, reason="running")


def _check_sent(
    wake_policy: WakePolicy, task: Task, *, now: Millis, draw: Draw, backed_up: bool
) -> Verdict:
    """A message that no executor has taken is either lost or waits in a backlog. A backlog must not
    multiply messages, nor delay a task further, so a backed-up lane gets no second copy at
    first. A task that has waited for long moves to a higher lane, backed up or not."""
    if is_aged(wake_policy, task, now):
        change = promote(wake_policy, task, now=now, draw=draw)
        return Verdict(change=change, enqueues=True, reason="aged")
    if backed_up and task.skips < MAX_SKIPS:
        at = now + FIRST_WATCH + round(WATCH_SPREAD * draw.spread)
        change = _watch_again(wake_policy, task, at, now=now, draw=draw, skips=task.skips + 1)
        return Verdict(change=change, enqueues=False, reason="lane backed up")
    at = now + min(SECOND_WATCH * 2**task.resends, LONGEST_WATCH)
    sends = task.resends + 1
    change = _watch_again(wake_policy, task, at, now=now, draw=draw, sends=sends, skips=0)
    return Verdict(change=change, enqueues=True, reason="message not taken")


def _watch_again(
    wake_policy: WakePolicy, task: Task, at: Millis, *, now: Millis, draw: Draw, **sets: Any
) -> Change:
    """Moves the watch of a task in its lane, not beyond the time of its promotion."""
    since = waiting_since(task)
    wake = wake_policy.watch(task.id, task.lane, at, since=since, now=now, draw=draw)
    return _moved(task, wake, **sets)


def _move(wake_policy: WakePolicy, task: Task, at: Millis, *, now: Millis, **sets: Any) -> Change:
    return _moved(task, wake_policy.wake(WakeKind.WATCH, task.id, task.lane, at, now=now), **sets)


def _moved(task: Task, wake: Wake, **sets: Any) -> Change:
    """Moves the watch. If the task was leased, ended or claimed meanwhile, this write is refused,
    and the watch is not needed any more."""
    return Change(
        step=Step.WATCH,
        task_id=task.id,
        expect=Expect(
            statuses=frozenset({task.status}) & sources(Step.WATCH),
            wake=task.wake,
            lease_until=task.lease_until,
        ),
        sets={"wake": wake, **sets},
    )
