"""Answers about Duetime itself, as duetime.api.openapi.answers has those about tasks."""

from typing import Annotated, Any, Literal

from pydantic import Field

from duetime.api.callers import Authorization, Right
from duetime.api.openapi.answers import AnswerModel, Time
from duetime.core.lanes import QUEUE
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


class Health(AnswerModel):
    """Whether Duetime works."""

    status: Literal["ok"]
    version: str
    time: Time
    last_tick_age: float | None
    """Seconds since the scanner's last tick; null if none is known."""
    checks: dict[str, str]
    """The name of each check, with `ok` or the reason why it failed."""


QueueName = Annotated[str, Field(pattern=QUEUE)]
"""A lane: `high`, or `batch/high` of a pool."""


class LaneState(AnswerModel):
    """The messages of a lane. The numbers are approximate on AWS, and those below that may be null
    are null there."""

    lane: QueueName
    depth: int
    """Messages of due tasks that wait for an executor."""
    delayed: int
    """Messages of tasks that are due within minutes."""
    in_flight: int
    """Messages that executors have: their tasks run, or are about to."""
    oldest_seconds: float | None
    """How long the oldest message of a due task has waited. Null if none waits, and on AWS, where
    CloudWatch has it as `ApproximateAgeOfOldestMessage` of the queue."""
    weight: int | None
    """Its share of the starts while every lane has work, in percent."""
    running: int | None
    """Attempts that run now."""
    in_per_minute: int | None
    """Messages that were sent to the lane in the last minute."""
    out_per_minute: int | None
    """Attempts from the lane that started in the last minute."""
    promoted: int | None
    """Tasks that were moved from this lane to the next higher one since the runner started."""
    waiting: int | None
    """Tasks of the lane that wait for a limit or for their ordering key, and have no message."""


class LaneList(AnswerModel):
    """The lanes, the most urgent first."""

    items: list[LaneState]
    next_cursor: None


class LiveTicket(AnswerModel):
    """A ticket for a WebSocket with live updates."""

    url: str
    """Connect to it before `expires_at`, once: it has the ticket in it."""
    expires_at: Time


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
