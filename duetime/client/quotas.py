"""The call for the quota of a namespace, and the type of its JSON."""

from typing import TypedDict

from duetime.client.calls import Call, ask


class Quota(TypedDict):
    """What a namespace may submit and store. None: there is no such limit."""

    namespace: str
    submissions_per_second: float | None
    burst: int | None
    stored_tasks: int | None
    stored: int | None  # tasks that it has stored; None also if they are not counted yet


def quota(namespace: str | None) -> Call[Quota]:
    return ask("GET", "/v1/quota", query={"namespace": namespace})
