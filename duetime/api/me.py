"""/v1/me: who the caller is, and what this API can do."""

from collections.abc import Mapping, Sequence
from typing import Any

from duetime.api.callers import Right
from duetime.api.http import Request, Response, Router, recent
from duetime.api.query import Query
from duetime.core.ports import Clock
from duetime.core.times import rfc3339
from duetime.core.value import value


@value(frozen=True, kw_only=True, slots=True)
class Me:
    """`features` are the parts that a deployment may lack, such as `live`."""

    clock: Clock
    version: str
    stage: str | None
    features: Sequence[str]

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/me", self.get)

    def get(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        caller = request.caller
        body: dict[str, Any] = {
            "actor": caller.actor,
            "rights": [right for right in Right if right in caller.rights],
            "authorization": caller.authorization,
            "features": list(self.features),
            "stage": self.stage,
            "version": self.version,
            "time": rfc3339(self.clock.now()),
            "namespace_default": "default",
        }
        return recent(body)
