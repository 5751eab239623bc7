"""What the simulation has seen of workflow runs: their rows, and the tasks of their steps."""

from collections import defaultdict
from dataclasses import dataclass, field

from duetime.core.lifecycle import Status
from duetime.core.suspension import WaitsFor
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.core.workflows.codec import decode_definition
from duetime.core.workflows.definition import Definition
from duetime.core.workflows.run import Run, RunStatus, step_task_id
from tests.simulation.engine import Engine, Process
from tests.simulation.faults import Faults

SETTLED: Millis = 6 * MINUTE  # after the faults, until no process is left that was disturbed
ENDED = frozenset("sdcxuf")


@dataclass
class RunHistory:
    engine: Engine
    faults: Faults
    tasks: dict[str, Task]
    rows: dict[str, Run] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    named: dict[str, tuple[str, int]] = field(default_factory=dict)  # tasks that a row said `p` of
    begun_at: dict[tuple[str, int], Millis] = field(default_factory=dict)  # run and its attempt
    stopped_at: dict[str, Millis] = field(default_factory=dict)  # since when a run is CANCELLING
    outcomes: dict[str, set[tuple[int, RunStatus]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    reads: dict[tuple[Process, str], Run] = field(default_factory=dict)
    died_at: dict[str, Millis] = field(default_factory=dict)  # tasks: the last time
    revived_at: dict[str, list[Millis]] = field(default_factory=lambda: defaultdict(list))
    refused: set[str] = field(default_factory=set)  # tasks whose late success resumes no run
    clean_ups: set[tuple[str, int]] = field(
        default_factory=set
    )  # run attempts that began `finally`

    # rows

    def write(self, before: Run | None, after: Run) -> None:
        self.rows[after.id] = after
        for position, state in enumerate(after.states):
            if state == "p":
                self.named[self.task_id(after, position)] = (after.id, position)
        self.begun_at.setdefault((after.id, after.attempt), self.engine.now)
        if after.status is not RunStatus.CANCELLING:
            self.stopped_at.pop(after.id, None)
        elif before is None or before.stop is not after.stop:
            self.stopped_at[after.id] = self.engine.now
        if after.status.over:
            self.outcomes[after.id].add((after.attempt, after.status))

    def define(self, digest: str, text: str) -> None:
        self.definitions.setdefault(digest, decode_definition(text))

    def task_changed(self, before: Task, after: Task) -> None:
        if after.status is Status.DEAD and before.status is not Status.DEAD:
            self.died_at[after.id] = self.engine.now
        if before.status is Status.DEAD and not after.status.finished:
            self.revived_at[after.id].append(self.engine.now)

    # steps

    def definition(self, run: Run) -> Definition:
        return self.definitions[run.spec.digest]

    def task_id(self, run: Run, position: int) -> str:
        if run.spec.map:
            return step_task_id(run, run.spec.map.step, position, position)
        return step_task_id(run, self.definition(run).steps[position].name, position)

    def task(self, run: Run, position: int) -> Task | None:
        return self.tasks.get(self.task_id(run, position))

    def is_last(self, run: Run, position: int) -> bool:
        return run.spec.map is None and self.definition(run).steps[position].last

    def needs(self, run: Run, position: int) -> tuple[int, ...]:
        return () if run.spec.map else self.definition(run).needs[position]

    def downstream(self, run: Run, positions: set[int]) -> set[int]:
        if run.spec.map:
            return set()
        found = set(positions)
        for position in self.definition(run).order:
            if not found.isdisjoint(self.needs(run, position)):
                found.add(position)
        return found - positions

    def place(self, task: Task) -> tuple[Run, int] | None:
        """Returns the run and the position of a task; None if its run has given it up."""
        run_id, position = self.named.get(task.id, (None, 0))
        run = self.rows.get(run_id) if run_id else None
        if run is None or self.task_id(run, position) != task.id:
            return None
        return run, position

    def must_not_start(self, run: Run, position: int) -> bool:
        """Whether a run that is CANCELLING stops this step."""
        if run.status is not RunStatus.CANCELLING:
            return False
        return not self.is_last(run, position) or str(run.stop) == "cancel_all"

    def parent(self, run: Run) -> Task | None:
        """Returns the task that waits for the run."""
        task = self.tasks.get(run.spec.parent_task_id or "")
        waits = task.suspended if task is not None else None
        if task is None or task.status is not Status.WAITING or waits is None:
            return None
        own = waits.kind is WaitsFor.RUN and waits.id == run.id
        return task if own and waits.run_attempt <= run.attempt else None

    def note_refusals(self, run: Run) -> None:
        """Notes the dead steps that have succeeded in a run that this does not resume any more."""
        for position in [n for n, state in enumerate(run.states) if state == "d"]:
            task = self.task(run, position)
            refused = run.status.final or self.has_reacted(run, position)
            if refused and task is not None and task.status is Status.SUCCEEDED:
                self.refused.add(task.id)

    def has_reacted(self, run: Run, position: int) -> bool:
        """Whether something has reacted to the death of a step: the run was stopped, or a dependent
        or a `finally` step has started."""
        after = self.downstream(run, {position})
        started = any(run.states[n] in "psdc" for n in after)
        return bool(run.stop) or "f" in run.states or started or self.is_last(run, position)

    # time

    def is_calm(self, since: Millis) -> bool:
        """Whether nothing has been disturbed since that time."""
        over_at = self.faults.over_at
        return over_at is not None and since >= over_at + SETTLED
