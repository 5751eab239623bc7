"""/v1/lanes: how many messages each lane has."""

from collections.abc import Mapping
from typing import Any

from duetime.api.http import Request, Response, Router
from duetime.api.paging import list_response
from duetime.api.query import Query
from duetime.core.lanes import Lane
from duetime.core.ports import Ports
from duetime.core.times import SECOND, Millis
from duetime.core.value import value


@value(frozen=True, slots=True)
class Lanes:
    ports: Ports

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/lanes", self.page)

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        now = self.ports.clock.now()
        return list_response([self._lane_json(lane, now) for lane in Lane], None)

    def _lane_json(self, lane: Lane, now: Millis) -> dict[str, Any]:
        depth = self.ports.lanes.depth(lane)
        oldest = depth.oldest
        return {
            "lane": lane,
            "depth": depth.ready,
            "delayed": depth.delayed,
            "in_flight": depth.in_flight,
            "oldest_seconds": None if oldest is None else max(now - oldest, 0) / SECOND,
        }
