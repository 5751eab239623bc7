"""What whole workflow runs cost on DynamoDB, from their creation to their end, in write units."""

from collections.abc import Callable

from duetime.core.workflows.definition import MapOver, WorkflowStep
from duetime.core.workflows.run import RunStatus
from tests.workflows import scripted, settle, start, step, stored
from tests.world import World

# The bounds of the design, and what is in them: a step is created, leased and recorded, its run is
# written, and its follow-up is cleared; a run is created with its definition, and ends.
STEP_UNITS, RUN_UNITS, ITEM_UNITS = 8, 6, 10

Units = Callable[[], float]  # since the last call


def chain(length: int) -> list[WorkflowStep]:
    return [step(f"s{n}", *([f"s{n - 1}"] if n else [])) for n in range(length)]


def mapped(items: int) -> list[WorkflowStep]:
    """Each item ends alone, so that no two share a write to the row of their map."""
    return [step("m", map=MapOver(items=items, max_concurrency=1))]


def cost_of(world: World, units: Units, steps: list[WorkflowStep]) -> float:
    units()
    scripted(world)
    run = start(world, *steps)
    settle(world, rounds=500)
    assert stored(world, run).status is RunStatus.SUCCEEDED
    assert world.awake() == []
    return units()


def unit_costs(world: World, units: Units) -> tuple[float, float, float]:
    """Returns the units of a step, of a run without its steps, and of an item of a map."""
    one, six = (cost_of(world, units, chain(length)) for length in (1, 6))
    a_step = (six - one) / 5
    few, many = (cost_of(world, units, mapped(items)) for items in (5, 15))
    return a_step, one - a_step, (many - few) / 10
