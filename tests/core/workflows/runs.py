"""Definitions, runs and ends for the tests of workflow decisions."""

from typing import Any

from duetime.core.times import DAY, Millis
from duetime.core.workflows.advance import End, start_run
from duetime.core.workflows.definition import Definition, MapOver, RunIf, WorkflowStep
from duetime.core.workflows.reconcile import task_id_at
from duetime.core.workflows.run import MapWindow, Run, RunSpec, StepState
from duetime.core.workflows.watches import Moment
from tests.factories import NOW, WAKE_POLICY, a_draw, an_id


def a_moment(at: Millis = NOW) -> Moment:
    return Moment(wake_policy=WAKE_POLICY, at=at, draw=a_draw())


MOMENT: dict[str, Any] = {"moment": a_moment()}
PASS = {"type": "pass"}

__all__ = ["MOMENT", "MapOver", "RunIf", "a_definition", "a_run", "a_spec", "a_step", "an_end"]


def a_step(name: str, *needs: str, **overrides: Any) -> WorkflowStep:
    return WorkflowStep(name=name, target=PASS, needs=needs, **overrides)


def a_definition(*steps: WorkflowStep) -> Definition:
    return Definition(steps=steps)


def a_spec(**overrides: Any) -> RunSpec:
    given = {"namespace": "default", "digest": "d", "run_at": NOW, "timeout": DAY}
    return RunSpec(**given | overrides)


def a_map_spec(items: int, window: int, tolerated: int = 0, **overrides: Any) -> RunSpec:
    window_of = MapWindow(
        run_id=an_id(), step="m", max_concurrency=window, tolerated_failures=tolerated
    )
    return a_spec(input=items, map=window_of, **overrides)


def a_run(definition: Definition, **spec: Any) -> Run:
    return start_run(definition, an_id(), a_spec(**spec), moment=a_moment())


def an_end(definition: Definition, run: Run, position: int, state: str) -> End:
    task_id = task_id_at(definition, run, position)
    return End(position=position, state=StepState(state), task_id=task_id)
