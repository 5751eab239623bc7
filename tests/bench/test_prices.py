"""From counts to dollars."""

from collections import Counter
from dataclasses import replace

import pytest

from bench.billing.prices import Prices, read_prices

# Round figures, so that a test reads like a bill.
ASSUMED = {
    "memory_gb": 0.5,
    "ms_per_invocation": 20,
    "ms_per_call": 5,
    "log_bytes_per_invocation": 300,
    "pollers": 5,
    "polls_a_minute": 3,
    "minutes_a_month": 43_200,
    "alarms": 2,
    "essential_alarms": 1,
    "dashboards": 1,
    "traced_alone": 1,
    "traced_in_bulk": 0.05,
    "access_log_bytes_per_request": 400,
}


@pytest.fixture
def prices() -> Prices:
    return replace(read_prices(), assumed=ASSUMED)


def test_the_file_has_a_date_and_every_line_a_source():
    prices = read_prices()

    assert prices.as_of
    assert all(line.source.startswith("https://") for line in prices.lines.values())
    assert set(ASSUMED) == set(prices.assumed)


def test_every_line_of_usage_has_a_price(prices: Prices):
    month = prices.idle_month(Counter(), lanes=3, metrics=4)
    elsewhere = prices.elsewhere_used(attempts=1).values()

    used = (
        set(month) | set(prices.kept(Counter())) | {line for usage in elsewhere for line in usage}
    )
    assert used == set(prices.lines)


def test_usage_has_a_line_for_everything_counted(prices: Prices):
    counts = Counter(
        {
            "write.table": 4,
            "write.wake": 2,
            "read": 1.5,
            "sqs": 3,
            "call.UpdateItem": 20,
            "source.ReceiveMessage": 2,
            "lambda.executor": 2,
            "waited": 860,
            "logs": 1_000,
            "api": 1,
        }
    )

    assert prices.usage(counts) == {
        "write": 6,
        "read": 1.5,
        "sqs": 3,
        "api": 1,
        "invocations": 2,
        "gb_seconds": 0.5,  # 2 × 20 ms + 20 × 5 ms + 860 ms, of half a GB
        "logs": 2_000,
    }
    assert prices.traces(counts, alone=False) == {"traces": 0.1}
    assert prices.traces(counts, alone=True) == {"traces": 2}


def test_stored_bytes_are_billed_for_storage_and_backups(prices: Prices):
    kept = prices.kept(Counter(stored=4_000_000_000))

    assert prices.total(kept) == pytest.approx(4 * (0.25 + 0.20))


def test_free_units_are_subtracted_down_to_zero(prices: Prices):
    line = prices.lines["sqs"]

    assert line.list_price(2_500_000) == pytest.approx(1.00)
    assert line.after_free(2_500_000) == pytest.approx(0.60)
    assert line.after_free(10) == 0


def test_an_idle_month_has_ticks_polls_metrics_alarms_and_dashboards(prices: Prices):
    tick = Counter({"write.table": 1, "read": 2.5, "lambda.scanner": 1})

    month = prices.idle_month(tick, lanes=3, metrics=4)

    assert month["write"] == 43_200
    assert month["read"] == 108_000
    assert month["sqs"] == 5 * 3 * 3 * 43_200
    assert (month["metrics"], month["alarms"], month["traces"]) == (4, 2, 43_200)


@pytest.mark.parametrize(("attempts", "transitions", "operations"), [(1, 2, 2), (2, 3, 3)])
def test_a_retry_elsewhere_adds_a_transition_and_an_operation(
    prices: Prices, attempts: int, transitions: int, operations: int
):
    used = prices.elsewhere_used(attempts)

    assert used["Step Functions + Lambda"]["transitions"] == transitions
    assert used["Google Cloud Tasks, without what it calls"]["operations"] == operations
    assert used["EventBridge Scheduler + SQS + Lambda"]["scheduler"] == 1


@pytest.mark.parametrize(
    ("flow", "steps", "transitions"), [("dag_10", 10, 10), ("map_1000", 1_000, 1_001)]
)
def test_a_workflow_elsewhere_has_a_transition_for_each_state_and_an_invocation_for_each_step(
    prices: Prices, flow: str, steps: int, transitions: int
):
    used = prices.step_functions(flow, steps)

    assert (used["transitions"], used["invocations"]) == (transitions, steps)
    assert prices.total({"transitions": used["transitions"]}) == transitions * 25 / 1_000_000


@pytest.mark.parametrize(("batch", "requests"), [(1, 3), (10, 1.2)])
def test_batching_elsewhere_saves_receives_but_not_sends(
    prices: Prices, batch: int, requests: float
):
    used = prices.elsewhere_used(batch=batch)["EventBridge Scheduler + SQS + Lambda"]

    assert used["sqs"] == pytest.approx(requests)
    assert used["invocations"] == 1 / batch
