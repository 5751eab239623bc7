"""What the flows of a task may cost, in units and requests."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bench.billing.deployment import Deployment
from bench.billing.flows import count_flow, idle_tick
from bench.billing.meter import Counts, units_written
from bench.billing.moto_setup import deployed
from bench.billing.payloads import text_of
from bench.billing.prices import read_prices
from duetime.core.ids import new_id
from duetime.core.lanes import MAX_RECEIVES
from duetime.core.times import MINUTE

SMALL, LARGE = 200, 20_000
LARGE_UNITS = 17  # of its row: 20 KB that hardly shrink when they are compressed
TASKS = 10


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed() as deployment:
        yield deployment


def a_task(size: int = SMALL, **fields: Any) -> Mapping[str, Any]:
    target = {"type": "python", "handler": "bench.noop"}
    return {"target": target, "payload": text_of(size), **fields}


def writes(counts: Counts) -> Mapping[str, float]:
    return {name: count for name, count in counts.items() if name.startswith("write.")}


def test_a_task_due_within_the_horizon_takes_six_write_units():
    assert units_written(count_flow("immediate", SMALL, TASKS)) <= 6


def test_a_scanned_task_takes_nine_write_units():
    assert units_written(count_flow("delayed", SMALL, TASKS)) <= 9


@pytest.mark.long
def test_counting_in_the_table_takes_a_write_for_a_batch_and_lane():
    def more(tasks: int, *, alone: bool) -> float:
        counts = [
            units_written(count_flow("immediate", SMALL, tasks, alone=alone, stats=stats))
            for stats in (True, False)
        ]
        return counts[0] - counts[1]

    assert 0 < more(100, alone=False) <= 0.1
    assert more(2, alone=True) == 1


@pytest.mark.long
def test_a_retry_takes_eight_more_and_a_death_two():
    """Two of the eight are the removal of its earlier attempt and its text at the end."""
    assert units_written(count_flow("one retry", SMALL, TASKS)) <= 14
    assert units_written(count_flow("dead", SMALL, TASKS)) <= 8


@pytest.mark.long
def test_a_dead_letter_in_other_sandboxes_reads_the_table_each_time():
    one, others = (count_flow(name, SMALL, TASKS) for name in ("dead", "dead, other sandboxes"))

    assert units_written(others) == units_written(one) + MAX_RECEIVES - 1


@pytest.mark.long
def test_a_lost_claim_takes_one_write_unit():
    won, lost = (count_flow(name, SMALL, TASKS) for name in ("delayed", "delayed, claim lost once"))

    assert units_written(lost) == units_written(won) + 1


@pytest.mark.long
def test_an_occurrence_takes_eleven_write_units_and_a_fixed_delay_seventeen():
    """One of the seventeen is the removal of its text at the end."""
    assert units_written(count_flow("recurring", SMALL, TASKS)) <= 11
    assert units_written(count_flow("fixed delay", SMALL, TASKS)) <= 17


def test_a_removed_task_without_other_rows_costs_only_its_relay(deployment: Deployment):
    deployment.submit(a_task(), TASKS)
    deployment.deliver()
    deployment.relay()
    deployment.meter.take_counts()

    deployment.expire()

    counts = deployment.meter.take_counts()
    assert (counts["lambda.relay"], units_written(counts), counts["read"]) == (1, 0, 0)


def test_a_removed_task_with_a_long_payload_costs_the_removal_of_its_row(deployment: Deployment):
    deployment.submit(a_task(LARGE), 1)
    deployment.deliver()
    deployment.relay()
    deployment.meter.take_counts()

    deployment.expire()

    counts = deployment.meter.take_counts()
    assert (counts["lambda.relay"], counts["call.BatchWriteItem"]) == (1, 1)
    assert units_written(counts) == LARGE_UNITS


@pytest.mark.parametrize(("fields", "more"), [({"id": True}, 0), ({"unique": True}, 1)], ids=str)
def test_client_made_id_takes_no_more_units_and_a_unique_key_takes_one(
    deployment: Deployment, fields: Mapping[str, bool], more: int
):
    def submitted(*tasks: Mapping[str, Any]) -> float:
        deployment.request(*tasks)
        return units_written(deployment.meter.take_counts())

    now = deployment.clock.now()
    named = {
        "id": new_id(now, 7) if "id" in fields else None,
        "unique": {"key": "k"} if "unique" in fields else None,
    }

    assert submitted(a_task(**named)) == submitted(a_task()) + more


def test_unique_key_takes_one_unit_when_its_task_is_removed(deployment: Deployment):
    deployment.request(a_task(unique={"key": "k"}))
    deployment.deliver()
    deployment.relay()
    deployment.meter.take_counts()

    deployment.expire()

    counts = deployment.meter.take_counts()
    assert (units_written(counts), counts["call.DeleteItem"]) == (1, 1)


def test_only_the_submission_grows_with_the_payload(deployment: Deployment):
    def written(size: int) -> list[Mapping[str, float]]:
        """Counts the units of the submission, the tick and the executors."""
        steps = []
        deployment.submit(a_task(size, delay=290), TASKS)
        steps.append(deployment.meter.take_counts())
        deployment.clock.advance(MINUTE)
        assert deployment.tick()["claimed"] == TASKS
        steps.append(deployment.meter.take_counts())
        deployment.clock.advance(4 * MINUTE)
        assert deployment.deliver() == TASKS
        steps.append(deployment.meter.take_counts())
        return [writes(step) for step in steps]

    small, large = written(SMALL), written(LARGE)

    assert small[1:] == large[1:]
    assert large[0] == small[0] | {"write.table": small[0]["write.table"] + LARGE_UNITS * TASKS}


@pytest.mark.long
def test_in_full_batches_a_task_takes_less_than_half_an_sqs_request(deployment: Deployment):
    waves, wave = 6, 50  # moto's queues are slower with each message in them
    for _ in range(waves):
        deployment.submit(a_task(), wave)
        assert deployment.deliver() == wave

    counts = deployment.meter.take_counts()
    assert counts["sqs"] <= 0.4 * waves * wave
    assert counts["call.SendMessageBatch"] == counts["source.ReceiveMessage"] == waves * wave / 10


def test_functions_do_not_share_what_they_have_read(deployment: Deployment):
    deployment.submit(a_task(LARGE), 1)
    assert deployment.meter.take_counts()["read"] == 0

    deployment.deliver()

    assert deployment.meter.take_counts()["read"] == 2.5, "the executor reads the payload"


@pytest.mark.long
def test_an_executor_waits_for_each_task_that_is_due_alone():
    together = count_flow("delayed", SMALL, 2 * TASKS)
    alone = count_flow("delayed", SMALL, TASKS, alone=True)

    assert units_written(alone) == units_written(together)
    assert (alone["lambda.executor"], alone["waited"]) == (1, 1_500)
    assert (together["lambda.executor"], together["waited"]) == (0.1, 150), "once per batch"


def test_an_executor_is_billed_while_it_waits_for_the_due_time(deployment: Deployment):
    deployment.submit(a_task(delay=1.4), 1)

    assert deployment.deliver() == 1, "SQS cannot delay it by less than a second"

    assert deployment.meter.take_counts()["waited"] == 1_400


@pytest.mark.long
def test_log_lines_of_a_failure_are_counted_once():
    failed, well = count_flow("dead", SMALL, TASKS), count_flow("immediate", SMALL, TASKS)

    assert 2_000 < failed["logs"] - well["logs"] < 6_000, "one line with a traceback of 4 KB"


def test_an_idle_tick_is_always_the_same(deployment: Deployment):
    tick = idle_tick(deployment)

    assert tick == idle_tick(deployment)
    assert units_written(tick) == 1, "its cursor"
    assert tick["lambda.scanner"] == 1
    assert tick["sqs"] == 0


def test_an_idle_month_costs_less_than_a_dollar(deployment: Deployment):
    """With the free tier, without alarms and traces."""
    prices = read_prices()
    usage = prices.idle_month(idle_tick(deployment), lanes=3, metrics=3)
    usage |= {"alarms": 0, "traces": 0}

    assert sum(prices.lines[name].after_free(units) for name, units in usage.items()) < 1
