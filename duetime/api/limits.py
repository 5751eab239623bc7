"""/v1/limits: how fast and how many at once tasks may start."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from duetime.api.http import FieldError, Problem, Request, Response, Router, invalid, not_found
from duetime.api.limit_models import LimitIn
from duetime.api.paging import page_response
from duetime.api.query import Query
from duetime.api.task_models import read_body
from duetime.core.limits.definition import Limit
from duetime.core.limits.fields import NAME_RULE, is_limit_name
from duetime.core.limits.ports import LimitListing, LimitPage
from duetime.core.ports import Ports
from duetime.core.task_json import moment_json
from duetime.core.times import SECOND, rfc3339
from duetime.core.value import value
from duetime.engine.limit_usage import is_used, usage_of


@value(frozen=True, slots=True)
class Limits:
    ports: Ports

    def add_to(self, router: Router) -> None:
        router.add("GET", "/v1/limits", self.page)
        router.add("PUT", "/v1/limits/{name}", self.put)
        router.add("GET", "/v1/limits/{name}", self.get)
        router.add("DELETE", "/v1/limits/{name}", self.delete)

    def put(self, request: Request, parameters: Mapping[str, str]) -> Response:
        """Puts a limit, also one that is being deleted: it stays then."""
        query = Query(request)
        namespace = query.word("namespace", "default")
        query.done()
        name = _name(parameters)
        given = read_body(LimitIn, request.json())
        limit = given.limit(namespace, name, self.ports.clock.now())
        return Response(status=200, body=self._json(self.ports.limits.put(limit), ""))

    def get(self, request: Request, parameters: Mapping[str, str]) -> Response:
        query = Query(request)
        namespace, key = query.word("namespace", "default"), query.word("key") or ""
        query.done()
        return Response(status=200, body=self._json(self._find(namespace, parameters), key))

    def page(self, request: Request, _: Mapping[str, str]) -> Response:
        query = Query(request)
        listing = LimitListing(
            namespace=query.namespace_or_all(), limit=query.limit(), cursor=query.text("cursor")
        )
        key = query.word("key") or ""
        query.done()

        def render(page: LimitPage) -> tuple[list[dict[str, Any]], str | None]:
            found = [limit for limit in page.limits if not self._is_drained(limit)]
            return [self._json(limit, key) for limit in found], page.cursor

        return page_response(self.ports.limits.page, listing, render)

    def delete(self, request: Request, parameters: Mapping[str, str]) -> Response:
        """Deletes a limit that is not in use. One that is in use takes no new tasks if `drain` is
        given, and is deleted when it is read after the last of them."""
        query = Query(request)
        namespace = query.word("namespace", "default")
        drain = query.flag("drain", default=False)
        query.done()
        limit = self._find(namespace, parameters)
        if not is_used(self.ports, limit):
            self.ports.limits.delete(limit)
        elif drain:
            now = self.ports.clock.now()
            self.ports.limits.put(replace(limit, draining=True, updated_at=now))
        else:
            raise _in_use(limit)
        return Response(status=204, headers={})

    def _find(self, namespace: str, parameters: Mapping[str, str]) -> Limit:
        name = _name(parameters)
        limit = self.ports.limits.get(namespace, [name]).get(name)
        if limit is None or self._is_drained(limit):
            raise not_found(f"limit {name!r} in namespace {namespace}")
        return limit

    def _is_drained(self, limit: Limit) -> bool:
        """Whether a limit that is being deleted is not in use any more. It is gone then."""
        if not limit.draining or is_used(self.ports, limit):
            return False
        self.ports.limits.delete(limit)
        return True

    def _json(self, limit: Limit, key: str) -> dict[str, Any]:
        usage = usage_of(self.ports, limit, key)
        rate = limit.rate
        return {
            "name": limit.name,
            "namespace": limit.namespace,
            "rate": rate
            and {"count": rate.count, "period": rate.period / SECOND, "burst": rate.burst},
            "concurrency": limit.concurrency,
            "draining": limit.draining,
            "created_at": rfc3339(limit.created_at),
            "updated_at": rfc3339(limit.updated_at),
            "key": key or None,
            "holding": usage.holding,
            "waiting": usage.waiting,
            "next_slot": moment_json(usage.next_slot),
        }


def _name(parameters: Mapping[str, str]) -> str:
    name = parameters["name"]
    if not is_limit_name(name):
        raise invalid([FieldError("name", NAME_RULE)])
    return name


def _in_use(limit: Limit) -> Problem:
    detail = (
        f"Tasks hold limit {limit.name!r} or wait for it. Drain it (?drain=true, --drain): then no"
        " new task may name it, and it goes when the last of them has ended."
    )
    return Problem(409, "state-conflict", "The limit is in use", detail)
