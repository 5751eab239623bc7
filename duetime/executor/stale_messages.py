"""Stale messages: those whose lease the store refused.

Such a message may still show that its task needs attention: it has expired, its executor has died,
or someone has redriven it from the dead-letter queue."""

import logging
from collections.abc import Sequence

from duetime.core.change import Applied, Unknown
from duetime.core.delivery import Message
from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports, TaskStore
from duetime.core.steps import lease
from duetime.core.steps.cancel import expire
from duetime.core.steps.long_run import lacks_dead_letter, outlasts_message
from duetime.core.steps.record import lease_expired, needs_enqueue
from duetime.core.steps.revive import revive
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, SECOND, Millis, seconds
from duetime.engine.enqueue import enqueue
from duetime.executor.message_acks import FIRST_RETRY_DELAY, MessageAcks

log = logging.getLogger(__name__)

LEASE_OVER_AFTER: Millis = lease.LENGTH + CLOCK_SKEW + SECOND  # a lease has surely ended by then


def keeps_attempt(store: TaskStore, task: Task) -> bool:
    """Write the previous attempt to a row of its own, before a later attempt can replace it in the
    task. Returns False if that fails: the new attempt then does not begin, and its lease ends."""
    if task.previous is None:
        return True
    try:
        store.keep_attempt(task.id, task.previous)
    except Unavailable:
        return False
    return True


class StaleMessages:
    """Decides what becomes of a stale message, and repairs its task."""

    def __init__(self, ports: Ports, acks: MessageAcks) -> None:
        self._ports = ports
        self._store = ports.store
        self._clock = ports.clock
        self._acks = acks

    def resolve(self, message: Message, task: Task | None) -> bool:
        """Returns True if the caller may delete the message; otherwise it is handed back or
        buried here. `task` is the row that refused the lease."""
        repaired = self.repair(message, task)
        if isinstance(repaired, Unknown):  # it may hold a slot, which only its message can free
            self._acks.hand_back_with_backoff(message)
            return False
        task = repaired
        if not self._may_start(message, task) and not self.free_slots([(message, task)]):
            return False
        if task is None or not _is_of(message, task):
            return True
        match task.status:
            case Status.RUNNING if not outlasts_message(task.spec):
                self._acks.hand_back(message, self._until_attempt_is_over(task))
            case Status.DEAD if message.redriven(task.updated_at) and not lacks_dead_letter(task):
                return self._revive(message, task)
            case Status.DEAD:
                self._acks.bury([message])
            case _:
                return True
        return False

    def free_slots(self, ended: Sequence[tuple[Message, Task | None]]) -> bool:
        """Free the slots of attempts that have ended, each with its task as it is stored. If that
        fails, the messages are handed back, and False is returned: an executor tries again when it
        receives them, so a message is never deleted before its slot is free."""
        limited = [(message.delivery, task) for message, task in ended if message.delivery.limits]
        if not limited or self._ports.slots is None:
            return True
        from duetime.engine.lines import free_slots

        try:
            free_slots(self._ports, limited)
        except Unavailable as error:
            ids = [delivery.task_id for delivery, _ in limited]
            log.warning("slots not freed: %s", error, extra={"step": "record", "task_ids": ids})
            for message, _ in ended:
                self._acks.hand_back_with_backoff(message)
            return False
        return True

    def _may_start(self, message: Message, task: Task | None) -> bool:
        """Whether the attempt of the message runs, or can still start."""
        if task is None or task.status.finished:
            return False
        return task.token == message.delivery.token

    def repair(self, message: Message, task: Task | None) -> Task | Unknown | None:
        """Expire a task whose time has passed, or end an attempt whose lease has ended. Returns the
        task as it is now stored; Unknown if it is not known whether it has expired."""
        if task is None or task.token != message.delivery.token:
            return task
        now = self._clock.now()
        if task.expired(now):
            (answer,) = self._store.apply([expire(task, now=now)])
            return answer if isinstance(answer, Unknown) else answer.stored
        if task.status is Status.RUNNING and lease.run_out(task.lease_until, now):
            return self._end_attempt(task, now)
        return task

    def _end_attempt(self, task: Task, now: Millis) -> Task:
        if not keeps_attempt(self._store, task):
            return task
        draw = self._ports.chance.draw()
        change = lease_expired(self._ports.wake_policy, task, now=now, draw=draw)
        (answer,) = self._store.apply([change])
        if not isinstance(answer, Applied):
            return task
        if needs_enqueue(change, answer.stored):
            enqueue(self._ports, [answer.stored])
        return answer.stored

    def _until_attempt_is_over(self, task: Task) -> Millis:
        """SQS may deliver one message twice. Deleting it here would delete it under the attempt
        that it started, and that attempt could not become a dead letter. So this copy stays
        hidden until the attempt has surely ended."""
        started_at = task.current.started_at if task.current else 0
        ends_at = started_at + seconds(task.spec.timeout) + LEASE_OVER_AFTER
        return max(ends_at - self._clock.now(), FIRST_RETRY_DELAY)

    def _revive(self, message: Message, task: Task) -> bool:
        """A dead letter was moved back to its lane: revive the task, which sends a new message."""
        now = self._clock.now()
        change = revive(self._ports.wake_policy, task, now=now, draw=self._ports.chance.draw())
        (answer,) = self._store.apply([change])
        match answer:
            case Applied(revived):
                enqueue(self._ports, [revived])
            case Unknown():
                self._acks.hand_back_with_backoff(message)
                return False
        return True


def _is_of(message: Message, task: Task) -> bool:
    """Whether this message started the last attempt. Another copy of it, sent by a watch, is only
    late and must not count as a redrive."""
    delivery = message.delivery
    return (task.token, task.message_written_at) == (delivery.token, delivery.written_at)
