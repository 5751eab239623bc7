"""Calls about limits."""

from duetime.client.calls import Call, ask, items, send
from duetime.client.limit_types import Limit, LimitPage, LimitRateFields
from duetime.client.requests import LIMITS, given, limit_path


def put(
    name: str, *, rate: LimitRateFields | None, concurrency: int | None, namespace: str | None
) -> Call[Limit]:
    body = given({"rate": rate, "concurrency": concurrency})
    return ask("PUT", limit_path(name), query={"namespace": namespace}, body=body)


def get(name: str, *, key: str | None, namespace: str | None) -> Call[Limit]:
    return ask("GET", limit_path(name), query={"namespace": namespace, "key": key})


def page(
    *, namespace: str | None, key: str | None, limit: int | None, cursor: str | None
) -> Call[LimitPage]:
    at = {"limit": limit, "cursor": cursor}
    return ask("GET", LIMITS, query={"namespace": namespace, "key": key, **at})


def every(*, namespace: str | None, key: str | None) -> Call[None]:
    return items(LIMITS, {"namespace": namespace, "key": key})


def delete(name: str, *, drain: bool, namespace: str | None) -> Call[None]:
    query = {"namespace": namespace, "drain": "true" if drain else None}
    yield from send("DELETE", limit_path(name), query=query)
