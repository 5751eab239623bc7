"""Calls about Duetime itself, and the types of their JSON."""

from typing import Any, Literal, NotRequired, TypedDict

from duetime.client.calls import Call, ask
from duetime.client.limit_types import WaitingFor

Why = Literal[
    "not_claimed",
    "held_back",
    "set_aside",
    "limit",
    "queued_behind",
    "no_worker",
    "not_taken",
    "lease_run_out",
]


class Me(TypedDict):
    """Who the caller is, and what the API can do."""

    actor: str | None
    rights: list[str]  # read, operate, work
    authorization: Literal["signature", "token"] | None  # what a call needs
    features: list[str]
    stage: str | None  # of the deployment
    version: str
    time: str  # of the server's clock
    namespace_default: str


class StuckTask(TypedDict):
    """A task that is past its time. What cannot be read is None."""

    id: str
    namespace: str | None
    name: str | None
    target: str | None
    lane: str
    status: str | None
    due_at: str | None
    since: str
    why: Why
    waiting_for: NotRequired[WaitingFor]


class Stuck(TypedDict):
    """Tasks that are past their time, the longest first."""

    items: list[StuckTask]
    complete: bool  # whether no such task can be missing
    looked_until: str  # up to when wakes have been read


class RunningAttempt(TypedDict):
    task_id: str
    since: str


class Worker(TypedDict):
    """A process that runs handlers for a runner, or for a pool of a deployment."""

    name: str
    backend: str  # http, aws
    pool: str | None
    lanes: list[str]
    handlers: list[str]
    concurrency: int | None
    running: list[RunningAttempt]
    draining: bool
    since: str
    seen: str
    host: str | None
    version: str | None


class DeclaredRule(TypedDict):
    name: str
    rule: dict[str, Any]


class HandlerDescription(TypedDict):
    """A handler, as its source says."""

    name: str
    module: str | None
    line: int | None
    doc: str | None  # the first line of its docstring
    payload_schema: dict[str, Any] | None  # JSON Schema; None: everything fits
    defaults: dict[str, Any]
    schedules: list[DeclaredRule]


def me() -> Call[Me]:
    return ask("GET", "/v1/me")


def stuck(namespace: str | None, limit: int | None) -> Call[Stuck]:
    return ask("GET", "/v1/stuck", query={"namespace": namespace, "limit": limit})


def workers() -> Call[list[Worker]]:
    found = yield from ask("GET", "/v1/workers")
    listed: list[Worker] = found["items"]
    return listed


def handlers() -> Call[list[HandlerDescription]]:
    found = yield from ask("GET", "/v1/handlers")
    listed: list[HandlerDescription] = found["items"]
    return listed
