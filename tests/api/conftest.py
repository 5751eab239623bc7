"""The API role over the SQLite store in memory and, where a store could differ, over moto."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from duetime.aws import clients
from duetime.local.moto_backend import fair_moto
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.flows import Flows
from tests.api.service import Service
from tests.backends import dynamo_stores
from tests.factories import SteppedClock
from tests.world import sqlite_world


@pytest.fixture
def service() -> Iterator[Service]:
    with closing(SqliteTaskStore(None)) as store:
        yield Service(store, SteppedClock())


@pytest.fixture(scope="module")
def moto_dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture(params=["sqlite", "moto"])
def any_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    if request.param == "sqlite":
        yield request.getfixturevalue("service")
        return
    with dynamo_stores(request.getfixturevalue("moto_dynamodb")) as stores:
        yield Service(
            stores.tasks,
            stores.clock,
            stores.schedules,
            limit_store=stores.limits,
            runs=stores.runs,
        )


@pytest.fixture
def flows() -> Iterator[Flows]:
    with sqlite_world() as world:
        yield Flows(world)
