"""One seed: a world goes through its faults and comes to rest, and the result is checked."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from duetime.core.lifecycle import Status
from duetime.core.steps.long_run import LONGEST_HIDDEN
from duetime.core.task import WORKFLOW, Spec, Task
from duetime.core.times import HOUR, MINUTE, Millis
from duetime.handlers import registry
from tests.simulation.actors import HANDLER
from tests.simulation.child_workload import a_handler
from tests.simulation.drain_workload import longest_hidden
from tests.simulation.monitor import Violation
from tests.simulation.removals import Removals
from tests.simulation.schedule_workload import CALM
from tests.simulation.unique_workload import is_superseded
from tests.simulation.workload import Workload
from tests.simulation.world import World

SETTLED_WITHIN: Millis = HOUR  # after the faults, until every task has ended
BACKFILL_GOES_ON: Millis = 20 * MINUTE  # until the next run of a backfill in order has ended
MANY = 1_000  # tasks; a tick with little time runs some ten follow-ups
REDRIVEN_WITHIN: Millis = 20 * MINUTE  # after a redrive, until every redriven task has ended
RESUMED_RUNS_END_WITHIN: Millis = HOUR  # after a redrive of their steps
LINES_EMPTY_WITHIN: Millis = 5 * MINUTE
LETTER_AGE: Millis = 2 * MINUTE  # at which a dead letter that comes back counts as redriven


@dataclass(frozen=True, kw_only=True)
class Report:
    seed: int
    tasks: int
    took: Millis
    dead: int
    trace: list[str]
    violation: str | None = None


def simulate(seed: int, tasks: int = 50) -> Report:
    """Simulates a seed. A violation is part of the report; any other exception is a bug."""
    world = World(seed)
    violation, about = None, None
    try:
        crowd = world.engine.random.choice([1_000, 3])
        few = world.engine.random.choice([500, 12, 0])
        batch = world.engine.scanner_random.choice([100, 100, 1])
        hidden = LONGEST_HIDDEN if world.drawn_workers.restarts else longest_hidden(seed)
        with (
            _without_logs(),
            _backed_up_at(crowd),
            _small_up_to(few),
            _in_batches_of(batch),
            patch("duetime.core.steps.long_run.LONGEST_HIDDEN", hidden),
            patch("duetime.engine.enqueue.log", world.monitor),
            patch("duetime.executor.immediate_follow_ups.log", world.monitor.runs.log),
            patch("duetime.engine.workflows.definitions._kept", OrderedDict()),
        ):
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
        self._workload = Workload(world, tasks)

    def run(self) -> None:
        with patch.dict(registry._handlers, {HANDLER: a_handler(HANDLER)}):  # for children
            self._run_through()

    def _run_through(self) -> None:
        self._workload.begin()
        bound = self._world.faults.lasts + CALM + SETTLED_WITHIN
        self._run(bound, lambda: self._workload.over, "did not end in time")
        self._check()
        self._engine.run(self._engine.now + LETTER_AGE, lambda: False)
        dead = self._redrive_all()
        revived = self._monitor.revived
        self._run(
            RESUMED_RUNS_END_WITHIN if self._workload.runs.wanted else REDRIVEN_WITHIN,
            lambda: self._workload.over and all(revived[task.token] for task in dead),
            "did not end in time after its redrive",
        )
        self._check_redrive(dead)
        self._monitor.runs.check()
        self._monitor.runs.stop()
        self._check_limits()
        self._check_unique_keys()
        self._workload.children.stop()  # a revived parent would submit a removed child again
        Removals(self._world, self._workload.ask_for_revival).run()

    def _run(self, span: Millis, done: Callable[[], bool], complaint: str) -> None:
        until, ran = self._engine.now + span, -1
        ended = self._play(until, done)
        while not ended and self._worked_off() > ran:
            ran, until = self._worked_off(), until + BACKFILL_GOES_ON
            ended = self._play(until, done)
        for violation in self._monitor.failures:
            raise violation
        if not ended:
            late = next((t for t in self._monitor.tasks.values() if not t.status.finished), None)
            ended = next((t for t in self._monitor.tasks.values() if t.has_follow_up), None)
            if late is None and ended is not None:
                raise Violation(f"follow-up: {complaint}", ended.id)
            if late is None and (run_id := self._monitor.runs.unfinished()) is not None:
                raise Violation(f"run: {complaint}", run_id)
            if late is None:
                raise Violation(f"{complaint}: messages are left, or a client has no answer")
            raise Violation(f"{late.status}: {complaint}", late.id)

    def _play(self, until: Millis, done: Callable[[], bool]) -> bool:
        return self._engine.run(until, lambda: bool(self._monitor.failures) or done())

    def _worked_off(self) -> int:
        """Returns how many tasks have ended and need no follow-up, or -1 if that must not take more
        than its time: a backfill in order may take hours, and so may the follow-ups of thousands
        of runs that have ended in a day without ticks."""
        schedules = self._monitor.schedules.current.values()
        tasks = self._monitor.tasks.values()
        if not any(span.serial for schedule in schedules for span in schedule.spans):
            if len(tasks) < MANY or not all(task.status.finished for task in tasks):
                return -1
            return sum(not task.has_follow_up for task in tasks)
        return sum(task.status.finished for task in tasks)

    def _check(self) -> None:
        accepted, tasks, new = self._workload.accepted, self._monitor.tasks, self._workload.new
        specs = [task.spec for task in tasks.values()]
        submitted = [s for s in specs if not (s.occurrence or s.parent_id or _is_of_a_run(s))]
        if not len(set(accepted.values())) <= len(submitted) <= self._workload.tasks + new.tasks:
            raise Violation(f"{len(submitted)} tasks of {self._workload.tasks} requests")
        for task_id in new.accepted - tasks.keys():
            raise Violation("a task of a batch was accepted and is lost", task_id)
        for key, task_id in accepted.items():
            if task_id not in tasks:
                raise Violation(f"{key} was accepted and is lost", task_id)
        for task in tasks.values():
            ended = [a.number for a in self._world.attempts(task.id) if a.outcome is not None]
            if ended != list(range(1, task.attempt + 1)):
                raise Violation(f"of {task.attempt} attempts only {ended} are listed", task.id)
        self._monitor.rates.check()
        self._monitor.runs.check()
        self._check_schedules()
        for task in self._dead():
            if task.spec.occurrence or task.spec.limits or task.spec.ordering_key is not None:
                continue  # a copy of its message is deleted when it has to wait
            if is_superseded(task):  # its message has no effect
                continue
            if task.token not in self._monitor.gone and task.token not in self._tokens_of_letters():
                raise Violation("dead, and its message is not in the dead-letter queue", task.id)

    def _check_schedules(self) -> None:
        self._monitor.schedules.check(self._world.schedules)
        for violation in self._monitor.failures:
            raise violation

    def _redrive_all(self) -> list[Task]:
        """Redrives every dead task: by its dead letters, or over the API if it has none."""
        dead = [task for task in self._dead() if not is_superseded(task)]
        letters = self._tokens_of_letters()
        for letter in list(self._world.sqs.dead_letters):
            self._world.sqs.redrive(letter, copies=self._engine.random.choice([1, 2]))
        for task in dead:
            if task.token not in letters:
                self._workload.ask_for_revival(task.id)
        return dead

    def _check_redrive(self, dead: list[Task]) -> None:
        for task in dead:
            lives = self._monitor.revived[task.token]
            if lives != 1:
                raise Violation(f"redriven once, revived {lives} times", task.id)

    def _check_limits(self) -> None:
        """Places of tasks that were cancelled leave with the next watch of their line."""
        self._engine.run(self._engine.now + LINES_EMPTY_WITHIN, lambda: False)
        self._monitor.limits.check_rest()
        for violation in self._monitor.failures:
            raise violation

    def _check_unique_keys(self) -> None:
        """Every task has ended, so every unique key can be taken again."""
        answers: list[int] = []
        for key in sorted(self._workload.unique.keys):
            self._workload.submit_unique(key, answers)
        wanted = [201] * len(self._workload.unique.keys)
        self._engine.run(self._engine.now + MINUTE, lambda: len(answers) == len(wanted))
        for violation in self._monitor.failures:
            raise violation
        if answers != wanted:
            raise Violation(f"free unique keys were answered with {answers}")

    def _dead(self) -> list[Task]:
        return [t for t in self._monitor.tasks.values() if t.status is Status.DEAD]

    def _tokens_of_letters(self) -> set[str]:
        return {letter.delivery.token for letter in self._world.sqs.dead_letters}


def _is_of_a_run(spec: Spec) -> bool:
    return spec.step is not None or spec.target.get("type") == WORKFLOW


@contextmanager
def _without_logs() -> Iterator[None]:
    """Disables logging: the roles log every fault."""
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def _backed_up_at(ready: int):
    """Counts a lane of few messages as backed up, so that few tasks make a backlog."""
    return patch("duetime.scanner.backed_up_lanes.BACKED_UP", ready)


def _in_batches_of(wakes: int):
    """Makes small batches, so that ticks run out of time between them."""
    return patch("duetime.scanner.scanner.BATCH", wakes)


def _small_up_to(wakes: int):
    """Counts an index of few wakes as big, so that ticks read it both ways."""
    return patch("duetime.scanner.wake_reader.SMALL_INDEX", wakes)
