"""/v1/slo: how well each lane meets its objective for drift."""

from collections.abc import Mapping
from typing import Any

from duetime.api.etags import with_etag
from duetime.api.http import Request, Response, Router
from duetime.api.query import Query
from duetime.api.stats import MAX_AGE
from duetime.core.ports import Clock
from duetime.core.stats.ports import StatsStore
from duetime.core.stats.slo import MINUTES_READ, WINDOW, Compliance, Objectives, compliance
from duetime.core.times import DAY, HOUR, MINUTE, rfc3339
from duetime.core.value import value

DIGITS = 6  # of shares


@value(frozen=True, kw_only=True, slots=True)
class SloRoute:
    """Without a store, the answer names where the metrics are: at `url`."""

    store: StatsStore | None
    clock: Clock
    objectives: Objectives
    url: str | None = None

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/slo", self.get)

    def get(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        body = self._table(self.store) if self.store else self._elsewhere()
        return with_etag(request, Response(status=200, body=body), max_age=MAX_AGE)

    def _table(self, store: StatsStore) -> dict[str, Any]:
        now = self.clock.now()
        hours = store.hours((now - WINDOW) // HOUR * HOUR, now + 1).rows
        minutes = store.minutes((now - MINUTES_READ) // MINUTE * MINUTE, now + 1).rows
        lanes = [
            compliance(lane, objective, hours=hours, minutes=minutes, now=now)
            for lane, objective in self.objectives.items()
        ]
        return {"source": "table", "lanes": [_json(lane) for lane in lanes]}

    def _elsewhere(self) -> dict[str, Any]:
        return {"source": "emf", "url": self.url, "lanes": []}


def _json(lane: Compliance) -> dict[str, Any]:
    objective = lane.objective
    return {
        "lane": lane.lane,
        "objective": {
            "share": objective.share,
            "drift_ms": objective.drift_ms,
            "window": f"{WINDOW // DAY}d",
        },
        "good": lane.good,
        "total": lane.total,
        "share": _rounded(lane.share),
        "budget_left": _rounded(lane.budget_left),
        "burn": {name: _rounded(rate) for name, rate in lane.burn.items()},
        "worst_minutes": [
            {"at": rfc3339(minute.at), "late": minute.late, "of": minute.of}
            for minute in lane.worst_minutes
        ],
        "approximate": True,
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, DIGITS)
