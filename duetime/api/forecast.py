"""/v1/forecast: how many tasks come due in each of the next minutes."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from duetime.api.http import FieldError, Request, Response, Router, invalid
from duetime.api.query import Query
from duetime.core.forecast import MAX_HOURS, Counts, DueSpan, Forecast
from duetime.core.lanes import Lane
from duetime.core.ports import Ports
from duetime.core.times import MINUTE, rfc3339
from duetime.core.value import value
from duetime.engine.forecast import forecast


class By(StrEnum):
    LANE = "lane"


@value(frozen=True, slots=True)
class ForecastRoute:
    ports: Ports

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/forecast", self.get)

    def get(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        hours = query.number("hours", 1)
        if not 1 <= hours <= MAX_HOURS:
            raise invalid([FieldError("hours", f"must be from 1 to {MAX_HOURS}")])
        by_lane = query.one_of("by", By) is By.LANE
        namespace = query.namespace_or_all()
        query.done()
        span = DueSpan.ahead(self.ports.clock.now(), hours, namespace)
        return Response(status=200, body=forecast_json(forecast(self.ports, span), by_lane=by_lane))


def forecast_json(found: Forecast, *, by_lane: bool) -> dict[str, Any]:
    tasks, occurrences = _by_minute(found.tasks), _by_minute(found.occurrences)
    lanes = found.by_minute()
    minutes: list[dict[str, Any]] = [
        {
            "minute": rfc3339(minute * MINUTE),
            "count": in_lanes.total(),
            "tasks": tasks[minute],
            "occurrences": occurrences[minute],
            **({"lanes": _lanes_json(in_lanes)} if by_lane else {}),
        }
        for minute, in_lanes in lanes.items()
    ]
    whole = sum(lanes.values(), Counter[Lane]())
    return {
        "looked_from": rfc3339(found.looked_from),
        "looked_until": rfc3339(found.looked_until),
        "complete": found.complete,
        "total": {
            "count": whole.total(),
            "tasks": tasks.total(),
            "occurrences": occurrences.total(),
            **({"lanes": _lanes_json(whole)} if by_lane else {}),
        },
        "peak": max(minutes, key=lambda one: one["count"], default=None),
        "minutes": minutes,
    }


def _by_minute(counts: Counts) -> Counter[int]:
    found: Counter[int] = Counter()
    for (minute, _), count in counts.items():
        found[minute] += count
    return found


def _lanes_json(counts: Counter[Lane]) -> dict[str, int]:
    return {lane.value: counts[lane] for lane in Lane}
