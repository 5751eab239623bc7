"""What limits and ordering keys cost on AWS, in write units on top of a task without them."""

from collections.abc import Iterator
from typing import Any

import pytest

from bench.billing.meter import Meter
from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.core.limits.definition import Limit, LimitUse
from duetime.engine.submission import Submission, TaskRequest
from duetime.local.moto_backend import fair_moto
from tests.factories import a_spec
from tests.world import World, moto_world

UNDER: dict[str, Any] = {"limits": (LimitUse(name="one", key="k"),)}
ORDERED = {"ordering_key": "k"}


@pytest.fixture
def metered() -> Iterator[tuple[World, Meter]]:
    with fair_moto():
        dynamodb, sqs, meter = clients.dynamodb(), clients.sqs(), Meter()
        urls = ensure_resources(clients.dynamodb(), sqs, table="costs", prefix="costs")
        meter.attach(dynamodb)
        with moto_world(dynamodb, sqs, "costs", urls) as world:
            world.limits.put(Limit(namespace="default", name="one", concurrency=1))
            submit(world)  # writes the namespace's own row
            world.deliver()
            meter.take_counts()
            yield world, meter


def submit(world: World, **fields: Any) -> None:
    spec = a_spec(run_at=world.clock.now(), **fields)
    Submission(world.ports).submit([TaskRequest(spec=spec, body_hash="")])
    world.advance(1)


def units(meter: Meter) -> float:
    return sum(n for name, n in meter.take_counts().items() if name.startswith("write."))


def cost_of_one(metered: tuple[World, Meter], **fields: Any) -> float:
    world, meter = metered
    submit(world, **fields)
    while world.deliver():
        pass
    return units(meter)


def test_a_limit_that_is_not_full_costs_two_units(metered: tuple[World, Meter]):
    plain = cost_of_one(metered)

    assert cost_of_one(metered, **UNDER) - plain == 2


def test_an_ordering_key_costs_four_units(metered: tuple[World, Meter]):
    plain = cost_of_one(metered)

    assert cost_of_one(metered, **ORDERED) - plain == 4


def test_a_task_that_waits_costs_two_units_more(metered: tuple[World, Meter]):
    world, meter = metered
    alone = cost_of_one(metered, **UNDER)
    for _ in range(3):
        submit(world, **UNDER)
    while world.deliver():
        pass

    waiting, watch = 2, 2
    assert units(meter) - 3 * alone - watch == waiting * 2, (
        "place and hold; a hand-over is one write"
    )
