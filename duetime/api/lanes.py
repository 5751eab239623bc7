"""/v1/lanes: how many messages each lane has, and how fast they come and go."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from duetime.api.http import Request, Response, Router
from duetime.api.paging import list_response
from duetime.api.query import Query
from duetime.core.lanes import Queue, queues_of
from duetime.core.ports import Ports
from duetime.core.times import SECOND, Millis
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class LaneActivity:
    """What a process knows about a lane that it serves. None: it does not know.

    Attributes:
        weight: Its share of the starts while every lane has work, in percent.
        running: Attempts that run now.
        in_per_minute: Messages that were sent to it in the last minute.
        out_per_minute: Attempts of it that started in the last minute.
        promoted: Tasks that were moved from it to the next higher lane, since the process started.
        waiting: Tasks of it that wait for a limit or for their ordering key."""

    weight: int | None = None
    running: int | None = None
    in_per_minute: int | None = None
    out_per_minute: int | None = None
    promoted: int | None = None
    waiting: int | None = None


LaneActivities = Callable[[], Mapping[Queue, LaneActivity]]


UNKNOWN = LaneActivity()


def unknown() -> Mapping[Queue, LaneActivity]:
    """The activities for a process that serves no lane, such as the API on AWS."""
    return {}


@value(frozen=True, slots=True)
class Lanes:
    ports: Ports
    activities: LaneActivities

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/lanes", self.page)

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        return list_response(self.states(), None)

    def states(self) -> list[dict[str, Any]]:
        now, known = self.ports.clock.now(), self.activities()
        return [
            self._lane_json(queue, known.get(queue, UNKNOWN), now)
            for pool in (None, *self.ports.pools)
            for queue in queues_of(pool)
        ]

    def _lane_json(self, queue: Queue, known: LaneActivity, now: Millis) -> dict[str, Any]:
        depth = self.ports.lanes.depth(queue)
        oldest = depth.oldest
        return {
            "lane": str(queue),
            "depth": depth.ready,
            "delayed": depth.delayed,
            "in_flight": depth.in_flight,
            "oldest_seconds": None if oldest is None else max(now - oldest, 0) / SECOND,
            **{each.name: getattr(known, each.name) for each in fields(known)},
        }
