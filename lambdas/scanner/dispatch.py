"""claim and enqueue: take a batch of wakes whose time has come, and do what each calls for."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from lambdas.core.change import Applied, Unknown, Unreadable
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Step
from lambdas.core.ports import Ports
from lambdas.core.steps.claim import claim, set_aside
from lambdas.core.steps.record import to_enqueue
from lambdas.core.steps.watch import look
from lambdas.core.task import Task
from lambdas.core.times import Millis
from lambdas.core.wakes import Wake
from lambdas.enqueue import enqueue

log = logging.getLogger(__name__)

BACKED_UP = 1_000  # ready messages from which a lane counts as backed up


@dataclass(frozen=True, kw_only=True, slots=True)
class Dispatched:
    claimed: int = 0
    lost: int = 0
    unknown: int = 0
    watched: int = 0
    sent: int = 0
    set_aside: int = 0


@dataclass
class Dispatcher:
    """For one tick: the depth of a lane is read once."""

    ports: Ports
    _ready: dict[Lane, int] = field(default_factory=dict)

    def claim(self, wakes: Sequence[Wake]) -> Dispatched:
        """Claim tasks whose time is near, and send them."""
        now = self.ports.clock.now()
        changes = [
            claim(self.ports.rules, w, now=now, draw=self.ports.chance.draw()) for w in wakes
        ]
        claimed: list[Task] = []
        stuck: list[Task] = []
        unknown = unreadable = 0
        for found, answer in zip(wakes, self.ports.store.apply(changes), strict=True):
            if isinstance(answer, Applied):
                claimed.append(answer.task)
            elif isinstance(answer, Unreadable):
                unreadable += 1
                self.set_aside(found, answer.reason)
            elif isinstance(answer, Unknown):
                unknown += 1  # claimed or not: its watch, or the next tick, comes upon it
            elif answer.task is not None and answer.task.wake == found:
                stuck.append(answer.task)  # not PENDING: a retry, or leased from a lost message
        sent = enqueue(self.ports, claimed)
        looked = self._look(stuck, now)
        return Dispatched(
            claimed=len(claimed),
            lost=len(wakes) - len(claimed) - len(stuck) - unknown - unreadable,
            unknown=unknown,
            watched=len(stuck),
            sent=sent + looked,
            set_aside=unreadable,
        )

    def watch(self, wakes: Sequence[Wake]) -> Dispatched:
        """Look at tasks that should have moved by now."""
        tasks = self.ports.store.get([found.task_id for found in wakes])
        still = [
            task for w in wakes if (task := tasks.get(w.task_id)) is not None and task.wake == w
        ]
        return Dispatched(watched=len(still), sent=self._look(still, self.ports.clock.now()))

    def set_aside(self, found: Wake, reason: str) -> None:
        """Move a wake that cannot be dealt with out of the way, so that it holds nobody up."""
        log.error("set aside: %s", reason, extra={"step": "scan", "task_id": found.task_id})
        now = self.ports.clock.now()
        self.ports.store.set_aside(set_aside(self.ports.rules, found, now=now))

    def ready(self, lane: Lane) -> int:
        if lane not in self._ready:
            self._ready[lane] = self.ports.lanes.depth(lane).ready
        return self._ready[lane]

    def _look(self, tasks: Sequence[Task], now: Millis) -> int:
        verdicts = []
        for task in tasks:
            verdict = look(
                self.ports.rules,
                task,
                now=now,
                draw=self.ports.chance.draw(),
                backed_up=self.ready(task.lane) > BACKED_UP,
            )
            if verdict is not None:
                verdicts.append(verdict)
                self._keep_attempt(task, verdict.change.step)
        answers = self.ports.store.apply([verdict.change for verdict in verdicts])
        due = [
            answer.task
            for verdict, answer in zip(verdicts, answers, strict=True)
            if isinstance(answer, Applied)
            and (verdict.sends or to_enqueue(verdict.change, answer.task))
        ]
        return enqueue(self.ports, due)

    def _keep_attempt(self, task: Task, step: Step) -> None:
        """An executor that died right after its lease may not have kept the attempt before."""
        if task.previous is not None and step in (Step.RETRY, Step.BURY, Step.STOP):
            self.ports.store.keep_attempt(task.id, task.previous)
