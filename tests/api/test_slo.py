"""GET /v1/slo: the objectives for drift, by lane."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from duetime.api.app import Api
from duetime.core.lanes import Lane
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.stats.slo import parse_objectives
from duetime.core.times import DAY, HOUR, MINUTE, Millis, rfc3339
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import Service, as_sent, refusal
from tests.factories import NOW, SteppedClock

# The buckets up to 5 ms, and over a second.
ON_TIME, LATE = "planned2", "planned10"
OBJECTIVES = parse_objectives("99%/1s, low=50%/60s")


class Slo(Service):
    def __init__(self, store: SqliteTaskStore) -> None:
        super().__init__(store, SteppedClock())
        self.stats = store.stats()
        ports = replace(self.ports, stats=self.stats)
        self.api = Api(ports, handlers=set, version="9", objectives=OBJECTIVES)

    def started(self, ago: Millis, lane: Lane = Lane.HIGH, **numbers: int) -> None:
        start = (NOW - ago) // MINUTE * MINUTE
        self.stats.add([LaneCounts(start=start, lane=lane, counts=Counts(numbers))])

    def shown(self) -> dict[str, Any]:
        response = self.get("/v1/slo")
        assert response.status == 200, response.body
        body = as_sent(response)
        assert body["source"] == "table"
        return {lane["lane"]: lane for lane in body["lanes"]}


@pytest.fixture
def slo() -> Iterator[Slo]:
    with closing(SqliteTaskStore(None)) as store:
        yield Slo(store)


def test_lane_shows_its_share_budget_burn_and_worst_minutes(slo: Slo):
    slo.started(10 * MINUTE, **{ON_TIME: 99, LATE: 1})
    slo.started(20 * DAY, **{ON_TIME: 100})

    assert slo.shown()["high"] == {
        "lane": "high",
        "objective": {"share": 0.99, "drift_ms": 1_000, "window": "30d"},
        "good": 199,
        "total": 200,
        "share": 0.995,
        "budget_left": 0.5,
        "burn": {"1h": 1.0, "6h": 1.0, "3d": 1.0},
        "worst_minutes": [{"at": rfc3339(NOW - 10 * MINUTE), "late": 1, "of": 100}],
        "approximate": True,
    }


def test_objectives_differ_by_lane(slo: Slo):
    slo.started(HOUR, Lane.LOW, **{LATE: 4})
    low = slo.shown()["low"]

    assert low["objective"] == {"share": 0.5, "drift_ms": 60_000, "window": "30d"}
    assert (low["share"], low["budget_left"]) == (1.0, 1.0)
    assert slo.shown()["medium"]["share"] is None


def test_tasks_of_more_than_30_days_ago_do_not_count(slo: Slo):
    slo.started(30 * DAY + HOUR, **{LATE: 5})
    slo.started(29 * DAY, **{ON_TIME: 1})

    assert slo.shown()["high"]["total"] == 1


def test_parameters_are_refused(slo: Slo):
    assert refusal(slo.get("/v1/slo", window="1h")) == {"window": "unknown parameter"}


def test_answer_that_has_not_changed_is_a_304(slo: Slo):
    first = slo.get("/v1/slo")
    assert first.headers["cache-control"] == "private, max-age=2"
    sent = {"if-none-match": first.headers["etag"]}

    assert slo.call("GET", "/v1/slo", b"", headers=sent).status == 304
    slo.started(MINUTE, **{LATE: 1})
    assert slo.call("GET", "/v1/slo", b"", headers=sent).status == 200


def test_api_without_rows_names_where_the_metrics_are(service: Service):
    assert service.get("/v1/slo").body == {"source": "emf", "url": None, "lanes": []}
