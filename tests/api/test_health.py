"""GET /v1/health: the probe decides, and every failed check is named."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duetime.api.health import MAX_TICK_AGE, Check, Health, scanner_health
from duetime.aws import clients
from duetime.core.errors import Unavailable
from duetime.core.ports import SliceState
from duetime.core.times import MINUTE, SECOND
from duetime.local.moto_backend import fair_moto
from tests.api.service import Service
from tests.backends import Stores, dynamo_stores, sqlite_stores
from tests.factories import NOW, SteppedClock


@pytest.fixture(scope="module")
def moto_dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture(params=["sqlite", "moto"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    if request.param == "sqlite":
        opened = sqlite_stores(tmp_path / "duetime.db")
    else:
        opened = dynamo_stores(request.getfixturevalue("moto_dynamodb"))
    with opened as stores:
        yield stores


def test_store_that_cannot_be_read_is_unhealthy(service: Service, caplog: pytest.LogCaptureFixture):
    def fail(ids: object) -> None:
        raise Unavailable("disk I/O error")

    service.store.get = fail
    with caplog.at_level(logging.WARNING):
        response = service.get("/v1/health")

    assert (response.status, response.body["status"]) == (503, 503)
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["title"] == "Duetime is not healthy"
    assert response.body["detail"] == "store: disk I/O error"
    assert response.body["checks"] == {"store": "disk I/O error"}
    assert response.body["version"] == "9.9.9"
    assert [record.getMessage() for record in caplog.records] == [
        "health check failed: store: disk I/O error"
    ]


def test_every_failed_check_is_named():
    checks = [Check(name="a", reason="x"), Check(name="b"), Check(name="c", reason="y")]
    problem = Health(checks=checks).problem()

    assert problem
    assert problem.body["detail"] == "a: x; c: y"
    assert Health(checks=[Check(name="b")]).problem() is None


def ticked(stores: Stores, at: int) -> None:
    assert stores.cursors.save(0, SliceState(fence=1, ticked_at=at))


def test_scanner_that_ticked_within_three_minutes_is_healthy(stores: Stores):
    ticked(stores, NOW)
    health = scanner_health(stores.cursors, SteppedClock(NOW + MAX_TICK_AGE))()

    assert health.problem() is None
    assert health.json() == {
        "last_tick_age": 180.0,
        "checks": {"store": "ok", "scanner": "ok"},
    }


def test_scanner_that_has_not_ticked_for_longer_is_unhealthy(stores: Stores):
    ticked(stores, NOW)
    health = scanner_health(stores.cursors, SteppedClock(NOW + MAX_TICK_AGE + SECOND))()

    problem = health.problem()
    assert problem
    assert problem.body["detail"] == "scanner: no tick for 181 s"


def test_new_stage_is_healthy_until_its_first_tick_is_late(stores: Stores):
    since = stores.cursors.shards(NOW).since
    new = scanner_health(stores.cursors, SteppedClock(since + MINUTE))()
    old = scanner_health(stores.cursors, SteppedClock(since + MAX_TICK_AGE + SECOND))()

    assert new.problem() is None
    assert new.tick_age is None
    assert old.problem()


def test_table_that_does_not_answer_is_unhealthy():
    class Silent:
        def load(self, number: int) -> SliceState:
            raise Unavailable("throttled")

    health = scanner_health(Silent(), SteppedClock())()  # type: ignore[arg-type]

    assert health.json() == {"last_tick_age": None, "checks": {"store": "throttled"}}
