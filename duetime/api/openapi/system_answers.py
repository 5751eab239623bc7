"""Answers about Duetime itself, as duetime.api.openapi.answers has those about tasks."""

from typing import Any

from pydantic import Field

from duetime.api.callers import Authorization, Right
from duetime.api.openapi.answers import AnswerModel, QueueName, Time
from duetime.core.lifecycle import Status
from duetime.core.stuck import Why


class Me(AnswerModel):
    """Who the caller is, and what this API can do."""

    actor: str | None
    """The name that the authorization gives the caller; null without one."""
    rights: list[Right]
    """What the caller may do."""
    authorization: Authorization | None
    """What a call needs: a `signature` of AWS, a bearer `token`, or nothing."""
    features: list[str]
    """Parts that another deployment may lack, such as `live`."""
    stage: str | None
    """The name of the deployment; null on one machine."""
    version: str
    time: Time
    """The clock of the server."""
    namespace_default: str
    """The namespace of a task that names none."""


class StuckTask(AnswerModel):
    """A task that is past its time. What cannot be read is null."""

    id: str
    namespace: str | None
    name: str | None
    target: str | None
    """The handler, or the resource that it calls."""
    lane: QueueName
    status: Status | None
    due_at: Time | None
    since: Time
    """Since when it is past its time."""
    why: Why
    """`not_claimed`: the scanner has not come to it. `held_back`: its lane catches up after an
    outage. `set_aside`: it failed to be read or written, and is tried again within an hour.
    `limit`: it waits for a limit. `queued_behind`: others come before it: in its lane, under its
    ordering key, or of its schedule. `no_worker`: its lane has messages, and no executor takes one,
    or no worker of its pool has its handler. `not_taken`: its message was sent and is not in its
    lane; it is sent again. `lease_run_out`: its executor has died."""
    waiting_for: dict[str, Any] = Field(default={})
    """The limit, ordering key or worker that it waits for, as in the task; left out without one."""


class StuckList(AnswerModel):
    """Tasks that are past their time, the longest first."""

    items: list[StuckTask]
    complete: bool
    """Whether no such task can be missing."""
    looked_until: Time
    """Up to when wakes of tasks have been read. A sent task has its wake some minutes, a task that
    was sent repeatedly up to six hours later."""


class DeclaredRule(AnswerModel):
    """A schedule that is declared beside the handler."""

    name: str
    rule: dict[str, Any]


class HandlerDescription(AnswerModel):
    """A handler, as its source says. What is not known is null."""

    name: str
    module: str | None
    line: int | None
    doc: str | None
    """The first line of its docstring."""
    payload_schema: dict[str, Any] | None
    """JSON Schema of its payload; null if everything fits. On AWS it is read from the source, where
    types that are not of JSON's own fit everything."""
    defaults: dict[str, Any]
    """Fields that its tasks have unless the caller gives others."""
    schedules: list[DeclaredRule]


class HandlerList(AnswerModel):
    """Every handler, by name."""

    items: list[HandlerDescription]
    next_cursor: str | None
