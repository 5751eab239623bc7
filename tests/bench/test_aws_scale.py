"""The model of a deployed stage: its limits apply, its scanner is the real one, no task is lost."""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from bench.aws_scale import (
    DEFAULT,
    RECIPE,
    SCENARIOS,
    TASKS,
    Result,
    Size,
    claims_a_minute,
    failures,
    play,
)
from bench.simulated_aws.deployment import Deployment, Due
from bench.simulated_aws.lane import Held, Lane
from bench.simulated_aws.limits import Assumed, Limits, Model, Partition
from bench.simulated_aws.tally import Tally
from duetime.core.delivery import Delivery
from duetime.core.lanes import Lane as LaneName
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from duetime.scanner.scanner import Scanner
from tests.simulation.engine import Engine

TINY = Size(
    burst=300,
    rate=4,
    minutes=2,
    outage_rate=1,
    outage=5 * MINUTE,
    after_outage=6 * MINUTE,
    healthy_rate=3,
    dying_rate=1,
    dying_for=MINUTE,
)


def a_model(**changes: Any) -> Model:
    """Returns a model with other limits or assumptions."""
    names = Limits.__dataclass_fields__
    limits = {name: value for name, value in changes.items() if name in names}
    assumed = {name: value for name, value in changes.items() if name not in names}
    return Model(limits=replace(Limits(), **limits), assumed=replace(Assumed(), **assumed))


def played(
    tasks: int, *, model: Model | None = None, within: Millis = MINUTE, **overrides: Any
) -> Deployment:
    """Returns tasks that are due ten minutes from the start."""
    deployment = Deployment(DEFAULT.model_copy(update=overrides), model or Model())
    first = deployment.start + 10 * MINUTE
    deployment.hold(Due(at=first + n * within // tasks, group=TASKS) for n in range(tasks))
    deployment.run(2 * HOUR)
    return deployment


def claimed_after(deployment: Deployment) -> Millis:
    """Returns the end of the last tick that claimed a task."""
    return max(at for at, _, report in deployment.scanner.reports if report.claimed)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_ends_with_every_task_started_and_none_lost_or_early(scenario: str) -> None:
    results = play(RECIPE, scenario, TINY, Model())

    assert results
    for result in results:
        assert result.lost == 0
        assert result.drained is not None
        assert result.p50 >= 0
    assert not failures(results)


def test_scenario_leaves_the_garbage_collector_on() -> None:
    """A scenario turns it off. If it stayed off, every later test would keep its garbage."""
    play(RECIPE, "burst", replace(TINY, burst=1), Model())

    assert gc.isenabled()


def test_dying_tasks_end_among_the_dead_and_healthy_ones_succeed() -> None:
    deployment = Deployment(RECIPE, Model())
    SCENARIOS["dying"](deployment, TINY)
    deployment.run(2 * HOUR)

    assert deployment.tally.succeeded == {"healthy": 180}
    assert deployment.tally.dead == {"dying": 60}


def test_partition_takes_its_rate_and_no_more() -> None:
    partition = Partition(10)
    for _ in range(10):
        assert partition.room(0) >= 1
        partition.take(1)

    assert partition.room(0) < 1
    assert partition.room(SECOND // 2) == 5
    assert partition.room(60 * SECOND) == 10  # unused units are not kept
    assert partition.delay(15, 60 * SECOND) == 500


def test_claims_that_are_throttled_come_later_and_none_is_lost() -> None:
    free = played(600, within=SECOND)
    hot = played(600, within=SECOND, model=a_model(partition_writes=4, new_table_writes=16))

    assert free.tally.counts["throttled"] == 0
    assert hot.tally.counts["throttled"] > 0
    assert claimed_after(hot) > claimed_after(free)
    assert hot.tally.succeeded[TASKS] == 600


def test_warm_writes_let_the_table_take_more() -> None:
    cold = a_model(partition_writes=10, new_table_writes=40)
    throttled = [
        played(600, within=SECOND, model=cold, warm_writes=writes).tally.counts["throttled"]
        for writes in (None, 4_000)
    ]

    assert throttled[0] > 4 * throttled[1]


def test_scanner_with_less_memory_claims_more_slowly() -> None:
    slow, fast = (played(3_000, scanner_memory=memory) for memory in (256, 1_769))

    assert claimed_after(slow) > claimed_after(fast) + 10 * SECOND


def test_memory_beyond_one_vcpu_makes_no_claim_faster() -> None:
    one, two = (played(1_000, scanner_memory=memory) for memory in (1_769, 3_538))

    assert claimed_after(one) == claimed_after(two)


def test_slice_of_the_default_stage_claims_what_the_docs_say() -> None:
    claims = claims_a_minute(1_024, Model(), tasks=30_000)["claims a minute"]

    assert 28_000 < claims < 54_000


def test_tasks_start_later_if_a_handshake_takes_more_cpu() -> None:
    cheap, dear = (
        played(200, within=SECOND, model=a_model(tls_cpu=cpu)).tally.drifts[TASKS]
        for cpu in (2.0, 66.0)
    )

    assert max(dear) > max(cheap) + 500


def a_lane(engine: Engine, model: Model, *, at_once: int = 1_000, room: int = 1_000) -> Lane:
    """A lane whose invocations never end."""
    lane = Lane(
        engine,
        model,
        Tally(),
        at_once=at_once,
        batch_size=10,
        invoke=lambda batch: None,
        admits=lambda: lane.busy < room,
    )
    return lane


def fill(lane: Lane, engine: Engine, count: int) -> None:
    for number in range(count):
        delivery = Delivery(
            task_id=str(number),
            token=f"{engine.now}-x",
            attempt=1,
            lane=LaneName.MEDIUM,
            written_at=engine.now,
            timeout=60,
        )
        lane.put(Held(delivery), engine.now)


def let_pass(engine: Engine, span: Millis) -> None:
    engine.run(engine.now + span, lambda: False)


def test_event_source_starts_with_5_batches_and_adds_300_a_minute() -> None:
    engine = Engine(1)
    lane = a_lane(engine, Model())
    fill(lane, engine, 20_000)

    let_pass(engine, SECOND // 2)
    assert lane.busy == 5
    let_pass(engine, MINUTE)
    assert lane.busy == 305
    let_pass(engine, MINUTE)
    assert lane.busy == 605


@pytest.mark.parametrize(("at_once", "room"), [(30, 1_000), (1_000, 30)])
def test_event_source_stops_at_its_maximum_and_at_the_accounts_quota(
    at_once: int, room: int
) -> None:
    engine = Engine(1)
    lane = a_lane(engine, Model(), at_once=at_once, room=room)
    fill(lane, engine, 20_000)

    let_pass(engine, 2 * MINUTE)

    assert lane.busy == 30


def test_count_of_messages_is_a_minute_old() -> None:
    engine = Engine(1)
    lane = a_lane(engine, Model(), room=0)
    let_pass(engine, 2 * MINUTE)
    fill(lane, engine, 70)

    let_pass(engine, MINUTE - SECOND)
    assert lane.depth().ready == 0
    let_pass(engine, 3 * SECOND)
    assert lane.depth().ready == 70


def test_account_with_few_executions_is_slow_and_loses_nothing() -> None:
    wide, narrow = (
        played(1_000, within=SECOND, model=a_model(account=account), concurrency=900)
        for account in (1_000, 3)
    )

    assert narrow.tally.peak_executors <= 3
    assert max(narrow.tally.drifts[TASKS]) > 2 * max(wide.tally.drifts[TASKS])
    assert narrow.tally.succeeded[TASKS] == 1_000


@contextmanager
def counted_ticks() -> Iterator[list[int]]:
    """Records the slices that the real scanner ticks."""
    slices: list[int] = []
    tick = Scanner.tick

    def counted(self: Scanner, slice_number: int = 0, *rest: Any, **named: Any) -> Any:
        slices.append(slice_number)
        return tick(self, slice_number, *rest, **named)

    with patch.object(Scanner, "tick", counted):
        yield slices


def test_every_slice_is_ticked_by_the_real_scanner_once_a_minute() -> None:
    with counted_ticks() as slices:
        deployment = played(60, slices=3)

    minutes = (deployment.engine.now - deployment.start) // MINUTE
    assert minutes <= slices.count(0) <= minutes + 1
    assert slices.count(0) == slices.count(1) == slices.count(2)
    assert len(slices) == len(deployment.scanner.reports)


def a_result(**changes: Any) -> Result:
    fine = Result(
        stage="recipe",
        scenario="steady",
        group=TASKS,
        tasks=10,
        p50=0.1,
        p99=0.9,
        slowest=2.0,
        drained=1.0,
        lost=0,
        lag=0.0,
        executors=1,
        dollars=0.1,
    )
    return replace(fine, **changes)


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        (a_result(), False),
        (a_result(p99=1.1), True),
        (a_result(lost=1), True),
        (a_result(stage="default", p99=100.0), False),
        (a_result(stage="default", lost=1), True),
        (a_result(scenario="burst", drained=59.0), False),
        (a_result(scenario="burst", drained=61.0), True),
        (a_result(scenario="burst", drained=None), True),
    ],
)
def test_recipe_that_misses_what_the_docs_say_fails(result: Result, failed: bool) -> None:
    assert bool(failures([result])) is failed


def test_recipe_is_the_one_in_the_docs() -> None:
    page = Path("docs/how-to/deploy.md").read_text()
    recipe = page.partition("### The recipe for 60,000 tasks a minute")[2]
    overrides = json.loads("{" + recipe.partition("```json")[2].partition("```")[0] + "}")["prod"]

    assert type(RECIPE).model_validate({**overrides, "name": RECIPE.name}) == RECIPE
