"""The flow tests run on SQLite with lanes in memory; the long tests run them on moto too."""

from collections.abc import Iterator
from typing import Any

import pytest

from duetime.aws import clients
from duetime.local.moto_backend import fair_moto
from tests.world import World, moto_world, sqlite_world


@pytest.fixture(scope="module")
def moto() -> Iterator[tuple[Any, Any]]:
    with fair_moto():
        yield clients.dynamodb(), clients.sqs()


@pytest.fixture(params=["sqlite", pytest.param("moto", marks=pytest.mark.long)])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "sqlite":
        opened = sqlite_world()
    else:
        opened = moto_world(*request.getfixturevalue("moto"))
    with opened as world:
        yield world
