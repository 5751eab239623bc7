"""What workflow runs cost, with their steps in full batches and one by one."""

import pytest

from bench.billing.meter import units_written
from bench.billing.workflow_flows import WORKFLOWS, WorkflowFlow, chain, count_workflow, mapped
from tests.run_costs import RUN_UNITS, STEP_UNITS


@pytest.mark.long
def test_ten_steps_in_a_row_take_as_many_units_together_as_alone():
    flow = WorkflowFlow(definition=chain(10), steps=10, runs=3, lone_runs=3)
    together, alone = (count_workflow(flow, alone=alone) for alone in (False, True))

    assert units_written(together) == units_written(alone)
    assert units_written(alone) == pytest.approx(74 + 1 / 3), "the definition is written once"
    assert units_written(alone) <= RUN_UNITS + 10 * STEP_UNITS
    assert together["lambda.executor"] < alone["lambda.executor"] == 10


@pytest.mark.long
def test_items_that_end_together_share_a_write_to_their_map():
    flow = WorkflowFlow(definition=mapped(20), steps=20, runs=1)
    together, alone = (count_workflow(flow, alone=alone) for alone in (False, True))

    assert units_written(alone) - units_written(together) == 20 - 2, "two batches of ten"


def test_flows_of_workflows_have_as_many_steps_as_their_names_say():
    assert [(name, flow.steps) for name, flow in WORKFLOWS.items()] == [
        ("dag_10", 10),
        ("map_1000", 1_000),
    ]
    assert WORKFLOWS["dag_10"].definition == chain(10)
    assert WORKFLOWS["map_1000"].definition == mapped(1_000)
