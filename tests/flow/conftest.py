"""Flows run on both backends: the embedded store with lanes in memory, moto with SQS."""

from collections.abc import Iterator
from typing import Any

import pytest

from duetime.local.moto_backend import fair_moto
from lambdas.aws import clients
from tests.world import World, embedded_world, moto_world


@pytest.fixture(scope="session")
def moto() -> Iterator[tuple[Any, Any]]:
    with fair_moto():
        yield clients.dynamodb(), clients.sqs()


@pytest.fixture(params=["embedded", "moto"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "embedded":
        opened = embedded_world()
    else:
        opened = moto_world(*request.getfixturevalue("moto"))
    with opened as world:
        yield world
