"""A message that starts nothing: what it still tells of its task, and what becomes of it."""

from lambdas.core import lease as terms
from lambdas.core.change import Applied, Unknown
from lambdas.core.delivery import Message
from lambdas.core.errors import Unavailable
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports, TaskStore
from lambdas.core.steps.cancel import expire
from lambdas.core.steps.record import lease_expired, to_enqueue
from lambdas.core.steps.revive import revive
from lambdas.core.task import Task
from lambdas.core.times import SECOND, Millis, seconds
from lambdas.enqueue import enqueue
from lambdas.executor.messages import SOON, Messages

AFTER_LEASE: Millis = terms.LENGTH + terms.GRACE + SECOND  # by then a lease surely has run out


def keeps_attempt(store: TaskStore, task: Task) -> bool:
    """Give the attempt before a row of its own, before anything can push it out of the task.
    Without that the new attempt does not begin: its lease runs out."""
    if task.previous is None:
        return True
    try:
        store.keep_attempt(task.id, task.previous)
    except Unavailable:
        return False
    return True


class Settling:
    def __init__(self, ports: Ports, messages: Messages) -> None:
        self._ports = ports
        self._store = ports.store
        self._clock = ports.clock
        self._messages = messages

    def is_spent(self, message: Message, task: Task | None) -> bool:
        """True for a message that is to be deleted; any other has been seen to. `task` is what
        refused it."""
        task = self._pushed(message, task)
        if task is None or not _is_of(message, task):
            return True
        match task.status:
            case Status.RUNNING:
                self._messages.hand_back(message, self._longest(task))
            case Status.DEAD if message.redriven(task.updated_at):
                return self._revive(message, task)
            case Status.DEAD:
                self._messages.bury([message])
            case _:
                return True
        return False

    def _pushed(self, message: Message, task: Task | None) -> Task | None:
        """A task may need a push, if its time or its executor's lease has passed. As it then
        stands."""
        if task is None or task.token != message.delivery.token:
            return task
        now = self._clock.now()
        if task.expired(now):
            self._store.apply([expire(task, now=now)])
        elif task.status is Status.RUNNING and terms.run_out(task.lease_until, now):
            return self._end_attempt(task, now)
        return task

    def _end_attempt(self, task: Task, now: Millis) -> Task:
        if not keeps_attempt(self._store, task):
            return task
        draw = self._ports.chance.draw()
        change = lease_expired(self._ports.rules, task, now=now, draw=draw)
        (answer,) = self._store.apply([change])
        if not isinstance(answer, Applied):
            return task
        if to_enqueue(change, answer.task):
            enqueue(self._ports, [answer.task])
        return answer.task

    def _longest(self, task: Task) -> Millis:
        """SQS may hand out one message twice; to delete it now would take it from the attempt
        that it began, and from the dead letters. By then that attempt is over, come what may."""
        started_at = task.current.started_at if task.current else 0
        ends_at = started_at + seconds(task.spec.timeout) + AFTER_LEASE
        return max(ends_at - self._clock.now(), SOON)

    def _revive(self, message: Message, task: Task) -> bool:
        """Somebody moved the letter back to its lane: the task gets a new life, and with it a
        delivery of its own."""
        now = self._clock.now()
        change = revive(self._ports.rules, task, now=now, draw=self._ports.chance.draw())
        (answer,) = self._store.apply([change])
        match answer:
            case Applied(revived):
                enqueue(self._ports, [revived])
            case Unknown():
                self._messages.give_back(message)
                return False
        return True


def _is_of(message: Message, task: Task) -> bool:
    """Whether this is the very message that began the last attempt, and no other sending of it:
    that one was late, and must not pass for a redrive."""
    return task.token == message.delivery.token and task.sends == message.delivery.written_at
