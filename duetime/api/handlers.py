"""/v1/handlers: the Python handlers that tasks may name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duetime.api.capabilities import HandlerNames
from duetime.api.http import Request, Response, Router, recent
from duetime.api.query import Query
from duetime.core.value import value

Describe = Callable[[], Sequence[Mapping[str, Any]]]

UNKNOWN: Mapping[str, Any] = {
    "name": None,
    "module": None,
    "line": None,
    "doc": None,
    "payload_schema": None,
    "defaults": {},
    "schedules": [],
}


def by_name(names: HandlerNames) -> Describe:
    """Describes handlers of which only the names and the defaults are known."""

    def describe() -> list[dict[str, Any]]:
        known = names()
        defaults = known if isinstance(known, Mapping) else {}
        return [
            {**UNKNOWN, "name": name, "defaults": defaults.get(name, {})} for name in sorted(known)
        ]

    return describe


@value(frozen=True, slots=True)
class Handlers:
    describe: Describe

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/handlers", self.page)

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        Query(request).done()
        return recent({"items": self.describe(), "next_cursor": None})
