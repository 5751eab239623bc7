"""The run protocol in random worlds: follow-ups, reconciles, cancels, retries and redrives are
frozen and killed between any two calls, and the row must still say what its tasks did."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from duetime.core.lifecycle import Status
from duetime.core.workflows.advance import END_STATES, advance
from duetime.core.workflows.reconcile import (
    admits,
    positions_to_read,
    reconcile_actions,
    task_id_at,
)
from duetime.core.workflows.retry import RetryRefused, retry_run, steps_to_retry
from duetime.core.workflows.run import Run, RunStatus
from duetime.core.workflows.stop import cancel_run
from tests.core.workflows.runs import MOMENT, RunIf, a_definition, a_run, a_step, an_end
from tests.factories import a_task

ARROWS = {*(["wp", "wx", "wu", "wf", "ps", "pd", "pc"])}
QUICK, LONG = 60, 500
LIVE = Status.ENQUEUED


class World:
    def __init__(self, seed: int, mutant: str | None = None) -> None:
        self.random = random.Random(seed)
        self.mutant = mutant
        self.definition = self._definition()
        self.run = a_run(self.definition, fail_fast=self.random.random() < 0.4)
        self.tasks: dict[str, Status] = {}
        self.owing: dict[str, int] = {}  # a finished task's follow-up, by the task's attempt
        self.attempts: dict[str, int] = {}
        self.at: dict[str, int] = {}
        self.created: list[tuple[int, str]] = []  # position and generation
        self.late = False  # whether the next write is that of a late success
        self.violations: list[str] = []

    def _definition(self):
        count = self.random.randint(2, 7)
        last = self.random.random() < 0.5 and count > 2
        names = [f"s{n}" for n in range(count)]
        ordinary = names[:-1] if last else names
        steps = []
        for n, name in enumerate(ordinary):
            needs = self.random.sample(ordinary[:n], self.random.randint(0, min(n, 3)))
            rule = self.random.choice([RunIf.ALL_SUCCEEDED] * 3 + list(RunIf))
            rule = rule if needs else RunIf.ALL_SUCCEEDED
            allowed = self.random.random() < 0.15
            steps.append(a_step(name, *needs, run_if=rule, allow_failure=allowed))
        if last:
            steps.append(a_step(names[-1], last=True))
        return a_definition(*steps)

    def id_at(self, run: Run, position: int) -> str:
        salt = str(self.random.random()) if self.mutant == "step_ids_random" else ""
        return task_id_at(self.definition, run, position) + salt

    def put(self, run: Run) -> bool:
        """Writes the run under its revision, as a store does."""
        if run.revision != self.run.revision + 1 and self.mutant != "no_revision_on_the_run":
            return False
        if run.attempt == self.run.attempt:
            pairs = zip(self.run.states, run.states, strict=True)
            wrong = [a + b for a, b in pairs if a != b and a + b not in ARROWS]
            self.violations += [f"arrow {arrow}" for arrow in wrong]
        elif self.run.attempt < run.attempt and self.run.stop and self.late:
            self.violations.append("late success resumed a stopped run")
        self.run = run
        return True

    def create(self, run: Run, position: int, status: Status) -> None:
        task_id = self.id_at(run, position)
        if task_id in self.tasks:
            return
        if status is LIVE and self.run.status.final:
            self.violations.append(f"step {position} created in a run that is over")
        self.tasks[task_id], self.attempts[task_id], self.at[task_id] = status, 0, position
        self.created.append((position, run.generation(position)))

    def end(self, task_id: str, status: Status) -> None:
        self.tasks[task_id] = status
        self.attempts[task_id] += 1
        self.owing[task_id] = self.attempts[task_id]

    def ends(self, run: Run, position: int, status: Status):
        return [an_end(self.definition, run, position, END_STATES[status])]

    # Each yield is a point at which an actor may be frozen or killed.

    def create_steps(self, run: Run) -> Iterator[None]:
        for position, state in enumerate(run.states):
            if state == "p":
                yield
                self.create(run, position, LIVE)

    def follow_up(self, task_id: str) -> Iterator[None]:
        position = self.at[task_id]
        for _ in range(50):
            run = self.run
            yield
            status, attempt = self.tasks[task_id], self.attempts[task_id]
            yield
            if not status.finished:
                return
            if self.id_at(run, position) != task_id and self.mutant != "step_ids_random":
                break
            if self.mutant == "recorded_after_the_end" and run.status.final:
                run = replace(run, status=RunStatus.FAILED)
            after = advance(self.definition, run, self.ends(run, position, status), **MOMENT)
            yield
            self.late = run.states[position] == "d"
            if after is None or self.put(after):
                break
        yield from self.create_steps(self.run)
        yield
        if self.owing.get(task_id) == attempt or self.mutant == "clears_any_end":
            self.owing.pop(task_id, None)

    def reconcile(self) -> Iterator[None]:
        for _ in range(50):
            run = self.run
            yield
            if run.status.over:
                return
            found = {}
            for position in positions_to_read(run):
                yield
                task_id = self.id_at(run, position)
                if status := self.tasks.get(task_id):
                    found[position] = a_task(id=task_id, status=status)
            repairs = reconcile_actions(self.definition, run, found)
            ends = [an_end(self.definition, run, e.position, e.state) for e in repairs.ends]
            yield
            yield from self.repair(run, repairs)
            if self.mutant == "no_cancelled_placeholder":
                ends += [an_end(self.definition, run, n, "c") for n in repairs.placeholders]
            after = advance(self.definition, run, ends, **MOMENT)
            yield
            self.late = any(run.states[end.position] == "d" for end in ends)
            if after is None:
                if not (repairs.placeholders or repairs.cancels):
                    return
            elif self.put(after):
                yield from self.create_steps(self.run)

    def repair(self, run: Run, repairs) -> Iterator[None]:
        for position in repairs.creates:
            yield
            self.create(run, position, LIVE)
        for position in repairs.placeholders:
            yield
            if self.mutant != "no_cancelled_placeholder":
                self.create(run, position, Status.CANCELLED)
        for position in repairs.cancels:
            yield
            task_id = self.id_at(run, position)
            if self.tasks.get(task_id) is LIVE:
                self.end(task_id, Status.CANCELLED)

    def cancel(self) -> Iterator[None]:
        for _ in range(50):
            run = self.run
            yield
            after = cancel_run(self.definition, run, **MOMENT)
            if after is None or run.status is RunStatus.CANCELLING:
                return
            yield
            if self.put(after):
                break
        yield from self.reconcile()

    def retry(self) -> Iterator[None]:
        run = self.run
        yield
        plan = steps_to_retry(self.definition, run)
        if isinstance(plan, RetryRefused):
            return
        revived = {}
        for position in plan.revive:
            yield
            task_id = self.id_at(run, position)
            self.revive(task_id)
            if task_id in self.tasks:
                revived[position] = self.tasks[task_id]
        after = retry_run(self.definition, run, revived, **MOMENT)
        if self.mutant == "retry_forgets_stopped":
            pairs = zip(run.states, after.states, strict=True)
            after = replace(after, states="".join("f" if a == "f" else b for a, b in pairs))
        yield
        self.late = False
        if self.put(after):
            yield from self.create_steps(self.run)
            yield from self.reconcile()

    def revive(self, task_id: str) -> None:
        if self.tasks.get(task_id) is Status.DEAD:
            self.tasks[task_id] = LIVE
            self.owing.pop(task_id, None)

    def redrive(self) -> Iterator[None]:
        dead = [task_id for task_id, status in self.tasks.items() if status is Status.DEAD]
        if dead:
            yield
            self.revive(self.random.choice(dead))

    def execute(self, task_id: str) -> Iterator[None]:
        run, position = self.run, self.at[task_id]
        gate = self.mutant == "no_gate_before_the_lease"
        if not gate and not admits(self.definition, run, position, task_id[:26]):
            if self.tasks[task_id] is LIVE:
                self.end(task_id, Status.CANCELLED)
            return
        self.check_start(run, position)
        yield
        if self.tasks[task_id] is LIVE:
            self.end(task_id, self.random.choices([Status.SUCCEEDED, Status.DEAD], [3, 1])[0])

    def check_start(self, run: Run, position: int) -> None:
        last = self.definition.steps[position].last
        if run.status.final or (run.status is RunStatus.CANCELLING and not last):
            self.violations.append(f"step {position} started in a run that is {run.status}")
        started = any(
            step.last and state in "psdc"
            for step, state in zip(self.definition.steps, run.states, strict=True)
        )
        if not last and started and run.states[position] == "p":
            self.violations.append(f"step {position} started after a finally step")


def play(seed: int, mutant: str | None = None) -> list[str]:
    world = World(seed, mutant)
    actors: list[Iterator[None]] = []
    for _ in range(700):
        if len(actors) < 5:
            actors += spawned(world, calm=False)
        if actors and world.random.random() < 0.5:
            step(world, actors, killed=world.random.random() < 0.06)
    for _ in range(1500):
        if world.random.random() < 0.5 or not actors:
            actors += spawned(world, calm=True)
        if actors:
            step(world, actors, killed=False)
    return world.violations + at_rest(world)


def step(world: World, actors: list[Iterator[None]], *, killed: bool) -> None:
    actor = world.random.choice(actors)
    if killed or next(actor, world) is world:
        actors.remove(actor)


def spawned(world: World, *, calm: bool) -> list[Iterator[None]]:
    luck = world.random.random()
    live = [task_id for task_id, status in world.tasks.items() if status is LIVE]
    if live and luck < 0.35:
        return [world.execute(world.random.choice(live))]
    if world.owing and luck < 0.75:
        return [world.follow_up(world.random.choice(list(world.owing)))]
    if luck < 0.9 or calm:
        return [world.reconcile()]
    actor = world.cancel if luck < 0.93 else world.retry if luck < 0.97 else world.redrive
    return [actor()]


def at_rest(world: World) -> list[str]:
    run, found = world.run, []
    if not run.status.over:
        return [f"stuck: {run.states}"]
    if run.status is RunStatus.SUCCEEDED and "f" in run.states:
        found.append("succeeded with stopped steps")
    if len(world.created) > len(set(world.created)):
        found.append("two tasks of one step in one generation")
    for position, step_ in enumerate(world.definition.steps):
        state, status = run.states[position], world.tasks.get(world.id_at(run, position))
        if step_.last and state not in "sdc":
            found.append("finally step not run")
        if status and state != "d" and (not status.finished or END_STATES[status] != state):
            found.append(f"step {position} is {state}, its task {status}")
        refused = run.status.final or (run.error and run.error.reason)
        allowed = step_.allow_failure or refused
        if status is Status.SUCCEEDED and state == "d" and not allowed:
            found.append(f"success of step {position} lost")
    return found


@pytest.mark.parametrize("first", range(0, QUICK, 20))
def test_runs_keep_the_laws_in_random_worlds(first):
    assert {seed: found for seed in range(first, first + 20) if (found := play(seed))} == {}


@pytest.mark.long
def test_runs_keep_the_laws_in_many_random_worlds():
    assert {seed: found for seed in range(QUICK, LONG) if (found := play(seed))} == {}


@pytest.mark.parametrize(
    "mutant",
    [
        "no_revision_on_the_run",
        "step_ids_random",
        "no_cancelled_placeholder",
        "retry_forgets_stopped",
        "no_gate_before_the_lease",
    ],
)
def test_model_notices_a_broken_protocol(mutant):
    assert any(play(seed, mutant) for seed in range(80))
