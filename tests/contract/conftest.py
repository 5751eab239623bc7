"""One suite for the ports, over every backend."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from duetime.local.moto_backend import fair_moto
from lambdas.aws import clients
from lambdas.aws.resources import VISIBILITY
from lambdas.core.ports import CursorStore, TaskStore
from lambdas.core.schedules.ports import ScheduleStore
from tests import backends
from tests.backends import Lanes, Stores
from tests.factories import SteppedClock
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
    """A local server takes any credentials, but wants some."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture(params=backends.STORES)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    if request.param == "embedded":
        opened = backends.embedded_stores(tmp_path / "duetime.db")
    elif request.param == "moto":
        opened = backends.dynamo_stores(request.getfixturevalue("moto_dynamodb"))
    else:
        request.getfixturevalue("test_credentials")
        opened = backends.dynamo_stores(clients.dynamodb(backends.DYNAMODB_ENDPOINT))
    with opened as stores:
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
def visibility() -> int:
    """For how many seconds a queue hides what was received; a test may set its own."""
    return VISIBILITY


@pytest.fixture(params=backends.LANES)
def lanes(request: pytest.FixtureRequest, visibility: int) -> Iterator[Lanes]:
    """Time is stepped, but at an endpoint that is not ours."""
    if request.param == "embedded":
        yield backends.memory_lanes()
    elif request.param == "moto":
        clock = SteppedClock()
        made = backends.sqs_lanes(request.getfixturevalue("moto_sqs"), visibility)
        with stepped_sqs(clock):
            yield replace(made, now=clock.now, pass_time=clock.advance)
    else:
        request.getfixturevalue("test_credentials")
        yield backends.sqs_lanes(clients.sqs(backends.SQS_ENDPOINT), visibility)
