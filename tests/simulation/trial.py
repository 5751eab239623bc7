"""One seed: a world lives through its faults, comes to rest, and is judged."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from lambdas.core.lifecycle import Status
from lambdas.core.task import Task
from lambdas.core.times import HOUR, MINUTE, Millis
from tests.simulation.monitor import Violation
from tests.simulation.recurring import CALM
from tests.simulation.story import Story
from tests.simulation.world import World

SETTLED_WITHIN: Millis = HOUR  # after the faults have stopped, every task has ended
BACKFILL_GOES_ON: Millis = 20 * MINUTE  # in which a backfill, run by run, gets one further at least
REDRIVEN_WITHIN: Millis = 20 * MINUTE  # and every dead one that was redriven, again
OLD_ENOUGH: Millis = 2 * MINUTE  # for a letter, to be known as redriven when it comes back


@dataclass(frozen=True, kw_only=True)
class Report:
    seed: int
    tasks: int
    took: Millis
    dead: int
    trace: list[str]
    violation: str | None = None


def simulate(seed: int, tasks: int = 50) -> Report:
    """Play a seed; a violation is part of the report, anything else that is raised is a bug."""
    world = World(seed)
    violation, about = None, None
    try:
        crowd = world.engine.random.choice([1_000, 3])
        few = world.engine.random.choice([500, 12, 0])
        batch = world.engine.scanner_random.choice([100, 100, 1])
        told = patch("lambdas.api.sending.log", world.monitor)
        with _quietly(), _crowded_at(crowd), _small_up_to(few), _taken_together(batch), told:
            Trial(world, tasks).run()
    except Violation as error:
        violation, about = str(error), error.task_id
    finally:
        world.close()
    return Report(
        seed=seed,
        tasks=len(world.monitor.tasks),
        took=world.age,
        dead=sum(1 for task in world.monitor.tasks.values() if task.status is Status.DEAD),
        trace=list(world.engine.trace.about(about)) if violation else [],
        violation=violation,
    )


class Trial:
    def __init__(self, world: World, tasks: int) -> None:
        self._world = world
        self._engine = world.engine
        self._monitor = world.monitor
        self._story = Story(world, tasks)

    def run(self) -> None:
        self._story.begin()
        bound = self._world.faults.lasts + CALM + SETTLED_WITHIN
        self._run(bound, lambda: self._story.over, "did not end in time")
        self._judge()
        self._engine.run(self._engine.now + OLD_ENOUGH, lambda: False)
        dead = self._redrive_all()
        revived = self._monitor.revived
        self._run(
            REDRIVEN_WITHIN,
            lambda: self._story.over and all(revived[task.token] for task in dead),
            "did not end in time after its redrive",
        )
        self._judge_redrive(dead)

    def _run(self, span: Millis, done: Callable[[], bool], reproach: str) -> None:
        until, ran = self._engine.now + span, -1
        ended = self._play(until, done)
        while not ended and self._backfilled() > ran:
            ran, until = self._backfilled(), until + BACKFILL_GOES_ON
            ended = self._play(until, done)
        for violation in self._monitor.failures:
            raise violation
        if not ended:
            late = next((t for t in self._monitor.tasks.values() if not t.status.finished), None)
            owing = next((t for t in self._monitor.tasks.values() if t.owes), None)
            if late is None and owing is not None:
                raise Violation(f"it owes: {reproach}", owing.id)
            if late is None:
                raise Violation(f"{reproach}: messages are left, or a client waits")
            raise Violation(f"{late.status}: {reproach}", late.id)

    def _play(self, until: Millis, done: Callable[[], bool]) -> bool:
        return self._engine.run(until, lambda: bool(self._monitor.failures) or done())

    def _backfilled(self) -> int:
        """How many tasks have ended, if one schedule at least still runs some one after another:
        that may take hours."""
        schedules = self._monitor.schedules.standing.values()
        if not any(span.serial for schedule in schedules for span in schedule.spans):
            return -1
        return sum(task.status.finished for task in self._monitor.tasks.values())

    def _judge(self) -> None:
        accepted, tasks = self._story.accepted, self._monitor.tasks
        submitted = [task for task in tasks.values() if task.spec.occurrence is None]
        if not len(accepted) <= len(submitted) <= self._story.tasks:
            raise Violation(f"{len(submitted)} tasks of {self._story.tasks} requests")
        for key, task_id in accepted.items():
            if task_id not in tasks:
                raise Violation(f"{key} was accepted and is lost", task_id)
        for task in tasks.values():
            ended = [a.number for a in self._world.attempts(task.id) if a.outcome is not None]
            if ended != list(range(1, task.attempt + 1)):
                raise Violation(f"of {task.attempt} attempts {ended} are told", task.id)
        self._judge_schedules()
        for task in self._dead():
            if task.spec.occurrence:  # a copy of its message is deleted when it has to wait
                continue
            if task.token not in self._monitor.gone and task.token not in self._lettered():
                raise Violation("dead, and its message is not in the dead-letter queue", task.id)

    def _judge_schedules(self) -> None:
        self._monitor.schedules.judge(self._world.schedules)
        for violation in self._monitor.failures:
            raise violation

    def _redrive_all(self) -> list[Task]:
        """Every dead task gets one more life: from its letters, or without one over the API."""
        dead, lettered = self._dead(), self._lettered()
        for letter in list(self._world.sqs.dead_letters):
            self._world.sqs.redrive(letter, copies=self._engine.random.choice([1, 2]))
        for task in dead:
            if task.token not in lettered:
                self._story.ask_for_revival(task.id)
        return dead

    def _judge_redrive(self, dead: list[Task]) -> None:
        for task in dead:
            lives = self._monitor.revived[task.token]
            if lives != 1:
                raise Violation(f"redriven once, revived {lives} times", task.id)

    def _dead(self) -> list[Task]:
        return [t for t in self._monitor.tasks.values() if t.status is Status.DEAD]

    def _lettered(self) -> set[str]:
        return {letter.delivery.token for letter in self._world.sqs.dead_letters}


@contextmanager
def _quietly() -> Iterator[None]:
    """The roles log every fault; here they are what is wanted."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _crowded_at(ready: int):
    """A lane of few messages counts as backed up, so that few tasks make a backlog."""
    return patch("lambdas.scanner.dispatch.BACKED_UP", ready)


def _taken_together(wakes: int):
    """Few tasks make many batches, so that ticks run out of time between them."""
    return patch("lambdas.scanner.scanner.BATCH", wakes)


def _small_up_to(wakes: int):
    """Few tasks make a big index, so that ticks read it both ways."""
    return patch("lambdas.scanner.index.FEW", wakes)
