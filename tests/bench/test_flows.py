"""What the ways of a task may cost, in units and requests."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bench.billing.deployment import Deployment
from bench.billing.flows import counted, idle_tick
from bench.billing.meter import Counts, units_written
from bench.billing.prices import read_prices
from bench.billing.stage import deployed
from lambdas.core.lanes import MAX_RECEIVES
from lambdas.core.times import MINUTE

SMALL, LARGE = 200, 20_000
FEW = 10


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with deployed() as deployment:
        yield deployment


def a_task(size: int = SMALL, **fields: Any) -> Mapping[str, Any]:
    target = {"type": "python", "handler": "bench.noop"}
    return {"target": target, "payload": "x" * size, **fields}


def writes(counts: Counts) -> Mapping[str, float]:
    return {name: count for name, count in counts.items() if name.startswith("write.")}


def test_a_task_due_within_the_horizon_takes_six_write_units():
    assert units_written(counted("immediate", SMALL, FEW)) <= 6


def test_a_scanned_task_takes_nine_write_units():
    assert units_written(counted("delayed", SMALL, FEW)) <= 9


def test_a_retry_takes_eight_more_and_a_death_two():
    """Two of the eight are the removal of its earlier attempt and its text, in the end."""
    assert units_written(counted("one retry", SMALL, FEW)) <= 14
    assert units_written(counted("dead", SMALL, FEW)) <= 8


def test_a_dead_letter_that_comes_to_other_sandboxes_asks_the_table_each_time():
    one, others = (counted(name, SMALL, FEW) for name in ("dead", "dead, other sandboxes"))

    assert units_written(others) == units_written(one) + MAX_RECEIVES - 1


def test_a_lost_claim_takes_one_write_unit():
    won, lost = (counted(name, SMALL, FEW) for name in ("delayed", "delayed, claim lost once"))

    assert units_written(lost) == units_written(won) + 1


def test_an_occurrence_takes_eleven_write_units_and_a_fixed_delay_seventeen():
    """One of the seventeen is the removal of its text, in the end."""
    assert units_written(counted("recurring", SMALL, FEW)) <= 11
    assert units_written(counted("fixed delay", SMALL, FEW)) <= 17


def test_a_removed_task_without_rows_beside_it_costs_its_relay_alone(deployment: Deployment):
    deployment.submit(a_task(), FEW)
    deployment.deliver()
    deployment.relay()
    deployment.meter.taken()

    deployment.expire()

    counts = deployment.meter.taken()
    assert (counts["lambda.relay"], units_written(counts), counts["read"]) == (1, 0, 0)


def test_a_removed_task_with_a_long_payload_costs_the_removal_of_its_row(deployment: Deployment):
    deployment.submit(a_task(LARGE), 1)
    deployment.deliver()
    deployment.relay()
    deployment.meter.taken()

    deployment.expire()

    counts = deployment.meter.taken()
    assert (counts["lambda.relay"], counts["call.BatchWriteItem"]) == (1, 1)
    assert units_written(counts) == 20


def test_only_the_submission_grows_with_the_payload(deployment: Deployment):
    def written(size: int) -> list[Mapping[str, float]]:
        """By the submission, the tick, the executors."""
        steps = []
        deployment.submit(a_task(size, delay=290), FEW)
        steps.append(deployment.meter.taken())
        deployment.clock.advance(MINUTE)
        assert deployment.tick()["claimed"] == FEW
        steps.append(deployment.meter.taken())
        deployment.clock.advance(4 * MINUTE)
        assert deployment.deliver() == FEW
        steps.append(deployment.meter.taken())
        return [writes(step) for step in steps]

    small, large = written(SMALL), written(LARGE)

    assert small[1:] == large[1:]
    assert large[0] == small[0] | {"write.table": small[0]["write.table"] + 20 * FEW}


def test_in_bulk_a_task_takes_less_than_half_a_request_of_a_queue(deployment: Deployment):
    waves, wave = 6, 50  # moto's queues get slower with each message in them
    for _ in range(waves):
        deployment.submit(a_task(), wave)
        assert deployment.deliver() == wave

    counts = deployment.meter.taken()
    assert counts["sqs"] <= 0.4 * waves * wave
    assert counts["call.SendMessageBatch"] == counts["source.ReceiveMessage"] == waves * wave / 10


def test_functions_do_not_share_what_they_have_read(deployment: Deployment):
    deployment.submit(a_task(LARGE), 1)
    assert deployment.meter.taken()["read"] == 0

    deployment.deliver()

    assert deployment.meter.taken()["read"] == 2.5, "the executor reads the payload"


def test_who_falls_due_alone_is_waited_for_alone():
    together = counted("delayed", SMALL, 2 * FEW)
    alone = counted("delayed", SMALL, FEW, alone=True)

    assert units_written(alone) == units_written(together)
    assert (alone["lambda.executor"], alone["waited"]) == (1, 1_500)
    assert (together["lambda.executor"], together["waited"]) == (0.1, 150), "once per batch"


def test_an_executor_is_billed_while_it_waits_for_the_due_time(deployment: Deployment):
    deployment.submit(a_task(delay=1.4), 1)

    assert deployment.deliver() == 1, "SQS cannot delay it by less than a second"

    assert deployment.meter.taken()["waited"] == 1_400


def test_log_lines_of_a_failure_are_counted_once():
    failed, well = counted("dead", SMALL, FEW), counted("immediate", SMALL, FEW)

    assert 2_000 < failed["logs"] - well["logs"] < 4_000, "a line with a traceback"


def test_an_idle_tick_is_always_the_same(deployment: Deployment):
    tick = idle_tick(deployment)

    assert tick == idle_tick(deployment)
    assert units_written(tick) == 1, "its cursor"
    assert tick["lambda.scanner"] == 1
    assert tick["sqs"] == 0


def test_an_idle_month_costs_less_than_a_dollar(deployment: Deployment):
    """With what is free to every account, without alarms and traces."""
    prices = read_prices()
    usage = prices.idle_month(idle_tick(deployment), lanes=3, metrics=3)
    usage |= {"alarms": 0, "traces": 0}

    assert sum(prices.lines[name].after_free(units) for name, units in usage.items()) < 1
