"""What runs cost on AWS, in write units, and how large their rows are."""

from dataclasses import replace
from math import ceil
from random import Random
from typing import Any

from bench.billing.meter import Meter, units_written
from bench.billing.units import size_of
from duetime.aws import clients, schema
from duetime.aws.provision import ensure_table
from duetime.aws.run_items import run_write
from duetime.aws.run_store import DynamoRunStore
from duetime.aws.task_items import encode_task
from duetime.core.ports import Shards
from duetime.core.step_ref import StepRef
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.times import DAY, SECOND
from duetime.core.workflows.definition import MAX_ITEMS
from duetime.core.workflows.run import MapWindow
from duetime.local.moto_backend import fair_moto
from tests.factories import NOW, SteppedClock, a_run, a_spec, a_task, an_id
from tests.run_costs import ITEM_UNITS, RUN_UNITS, STEP_UNITS, unit_costs
from tests.world import moto_world

KB = 1_024
DEFINITION = {
    schema.PK: {"S": schema.definition_pk("d1")},
    schema.SK: {"S": schema.DEFINITION},
}


def test_run_costs_three_units_and_each_later_write_one():
    with fair_moto():
        client, meter = clients.dynamodb(), Meter()
        ensure_table(client, "runs")
        meter.attach(client)
        known = Shards(count=4, since=NOW)
        store = DynamoRunStore(client, "runs", shards=lambda: known, clock=SteppedClock())
        meter.take_counts()
        run, units = a_run(states="p" + "w" * 299), []
        for states in ("p" + "w" * 299, "s" + "p" * 299):
            store.put([replace(run, states=states, revision=len(units) + 1)])
            counted = meter.take_counts()
            units.append(sum(n for name, n in counted.items() if name.startswith("write.")))
        store.close()

    assert units == [3, 1]


def test_definition_that_runs_share_is_written_once_until_it_must_be_renewed():
    with fair_moto():
        client, meter = clients.dynamodb(), Meter()
        ensure_table(client, "runs")
        meter.attach(client)
        known = Shards(count=4, since=NOW)
        store, other = (
            DynamoRunStore(
                client, "runs", shards=lambda: known, clock=SteppedClock(), retention=30 * DAY
            )
            for _ in range(2)
        )
        kept = []
        for writer, needed_until in [
            (store, NOW),
            (store, NOW + 20 * DAY),
            (other, NOW + 20 * DAY),
            (store, NOW + 30 * DAY),
            (other, NOW + 40 * DAY),
            (other, None),
            (store, NOW + 99 * DAY),
        ]:
            writer.put_definition("d1", "{}", needed_until)
            row = client.get_item(TableName="runs", Key=DEFINITION)["Item"]
            kept.append(int(row[schema.REMOVE_AFTER]["N"]) if schema.REMOVE_AFTER in row else None)
        store.close()
        other.close()

    first = (NOW + 90 * DAY) // SECOND
    renewed = (NOW + 130 * DAY) // SECOND
    assert kept == [first, first, first, first, renewed, None, None]


def test_row_of_a_run_of_300_retried_steps_is_below_1_kb():
    run = a_run(
        states="spwdcxuf" * 37 + "spwd",
        generations="1" * 300,
        spec={"workflow": "w" * 64, "version": 12},
    )

    assert size_of(run_write(run, shards=4, retention=DAY).item) < KB


def test_item_of_the_largest_map_stays_within_its_units_whichever_items_have_failed():
    dice = Random(1)
    window = MapWindow(run_id=an_id(), step="m", max_concurrency=100, tolerated_failures=9_999)
    states = "".join(dice.choice("ssd") for _ in range(MAX_ITEMS))
    run = a_run(states=states, spec={"map": window, "input": MAX_ITEMS})

    row = ceil(size_of(run_write(run, shards=4, retention=DAY).item) / KB)
    assert row <= ITEM_UNITS - 6, "six are those of its task"


def test_suspended_task_of_a_step_is_below_1_kb():
    spec = a_spec(
        target={"type": "step"},
        step=StepRef(run_id=an_id(), step="s" * 64, index=9_999, run_timeout=366 * DAY),
    )
    waits = Suspension(kind=WaitsFor.CALLBACK, id="f" * 32, run_attempt=61)
    task = a_task(spec=spec, suspended=waits, held=-1, grant=NOW, body_hash="f" * 16)

    item, overflow = encode_task(task, None)
    assert (size_of(item) < KB, overflow) == (True, {})


def test_steps_runs_and_items_cost_what_the_design_allows(sqs: Any, table: str):
    client, meter = clients.dynamodb(), Meter()
    meter.attach(client)
    with moto_world(client, sqs, table) as world:
        a_step, a_run, an_item = unit_costs(world, lambda: units_written(meter.take_counts()))

    assert (a_step, a_run, an_item) == (7, 5, 7)
    assert a_step <= STEP_UNITS
    assert a_run <= RUN_UNITS
    assert an_item <= ITEM_UNITS
