"""One suite for the ports, over every backend."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.provision import VISIBILITY
from duetime.core.limits.ports import RateStore
from duetime.core.ports import CursorStore, TaskStore
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.workflows.ports import RunStore
from duetime.local.moto_backend import fair_moto
from tests import backends
from tests.backends import Lanes, Stores
from tests.factories import SteppedClock, an_id
from tests.world import stepped_sqs


@pytest.fixture(scope="module")
def moto_dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture(scope="module")
def moto_sqs() -> Iterator[Any]:
    with fair_moto():
        yield clients.sqs()


@pytest.fixture
def test_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server accepts any credentials, but requires some."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


OpenStores = Callable[[], AbstractContextManager[Stores]]


@pytest.fixture(params=backends.STORES)
def open_stores(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStores:
    """Opens new, empty stores on each call."""
    if request.param == "sqlite":
        return lambda: backends.sqlite_stores(tmp_path / f"{an_id()}.db")
    if request.param == "moto":
        dynamodb = request.getfixturevalue("moto_dynamodb")
    else:
        request.getfixturevalue("test_credentials")
        dynamodb = clients.dynamodb(backends.DYNAMODB_ENDPOINT)
    return lambda: backends.dynamo_stores(dynamodb)


@pytest.fixture
def stores(open_stores: OpenStores) -> Iterator[Stores]:
    with open_stores() as stores:
        yield stores


@pytest.fixture
def store(stores: Stores) -> TaskStore:
    return stores.tasks


@pytest.fixture
def schedules(stores: Stores) -> ScheduleStore:
    return stores.schedules


@pytest.fixture
def cursors(stores: Stores) -> CursorStore:
    return stores.cursors


@pytest.fixture
def rates(stores: Stores) -> RateStore:
    return stores.rates


@pytest.fixture
def runs(stores: Stores) -> RunStore:
    return stores.runs


@pytest.fixture
def visibility() -> int:
    """Seconds for which a queue hides a received message; a test may set its own."""
    return VISIBILITY


@pytest.fixture(params=backends.LANES)
def lanes(request: pytest.FixtureRequest, visibility: int) -> Iterator[Lanes]:
    """The clock is stepped, except at a real endpoint."""
    if request.param == "memory":
        yield backends.memory_lanes()
    elif request.param == "moto":
        clock = SteppedClock()
        made = backends.sqs_lanes(request.getfixturevalue("moto_sqs"), visibility)
        with stepped_sqs(clock):
            yield replace(made, now=clock.now, pass_time=clock.advance)
    else:
        request.getfixturevalue("test_credentials")
        yield backends.sqs_lanes(clients.sqs(backends.SQS_ENDPOINT), visibility)
