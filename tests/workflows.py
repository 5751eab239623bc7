"""Workflow runs in a stepped world."""

from typing import Any

from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.workflows.codec import digest_of, encode_definition
from duetime.core.workflows.definition import Definition, WorkflowStep
from duetime.core.workflows.run import Run, RunSpec, step_task_id
from duetime.engine.workflows.definitions import definitions_of
from duetime.engine.workflows.requests import CreatedRun, create_run
from duetime.handlers.context import Context
from tests.world import World

HANDLER = {"type": "python", "handler": "work"}


def step(name: str, *needs: str, **fields: Any) -> WorkflowStep:
    """A step whose handler gets the name of the step as its payload."""
    given = {"target": HANDLER, "payload": {"step": name}, **fields}
    return WorkflowStep(name=name, needs=needs, **given)


def start(world: World, *steps: WorkflowStep, input: Any = None, **fields: Any) -> Run:
    definition = Definition(steps=steps, **fields)
    created = create_run(world.ports, definition, a_run_spec(world, definition, input))
    assert isinstance(created, CreatedRun)
    return created.run


def a_run_spec(world: World, definition: Definition, input: Any = None, **fields: Any) -> RunSpec:
    return RunSpec(
        namespace="default",
        digest=digest_of(encode_definition(definition)),
        run_at=world.clock.now(),
        timeout=definition.timeout,
        input=input,
        priority=definition.priority,
        fail_fast=definition.fail_fast,
        **fields,
    )


def stored(world: World, run: Run) -> Run:
    return world.ports.runs.get([run.id])[run.id]  # type: ignore[union-attr]


def states(world: World, run: Run) -> str:
    return stored(world, run).states


def task_of(world: World, run: Run, name: str, index: int | None = None) -> Task | None:
    run = stored(world, run)
    definition = definitions_of(world.ports, [run])[run.spec.digest]
    position = definition.position[name] if index is None else index
    task_id = step_task_id(run, name, position, index)
    return world.store.get([task_id]).get(task_id)


def settle(world: World, rounds: int = 50, step: Millis = SECOND) -> None:
    """Delivers until nothing is to be delivered."""
    for _ in range(rounds):
        if not world.deliver():
            return
        world.advance(step)


class Script:
    """What the handlers of steps do: each step has a list of what its attempts do, in order; the
    last one is repeated. An exception is raised, anything else returned."""

    def __init__(self, **ends: Any) -> None:
        self.ends = ends
        self.calls: list[tuple[str, Any]] = []

    def __call__(self, task: Task, ctx: Context) -> Any:
        payload = task.spec.payload
        name = payload["step"]
        self.calls.append((name, payload))
        end = self.ends.get(name, "done")
        if isinstance(end, list):
            end = end.pop(0) if len(end) > 1 else end[0]
        if isinstance(end, Exception):
            raise end
        return end(payload) if callable(end) else end

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    def payload(self, name: str) -> Any:
        return next(payload for called, payload in self.calls if called == name)


def scripted(world: World, **ends: Any) -> Script:
    script = Script(**ends)
    world.script = script
    return script
