"""Types of the JSON of limits, and of how tasks name them. They are plain dicts, so a newer server
may add fields."""

from datetime import timedelta
from typing import Literal, Required, TypedDict
from uuid import UUID

OnDead = Literal["continue", "block"]
OnFull = Literal["queue", "skip", "cancel"]


class LimitRateFields(TypedDict, total=False):
    """A rate as given."""

    count: Required[int]  # starts in each period
    period: Required[float | timedelta]  # seconds
    burst: int  # how many more may start at once after a pause


class LimitRate(TypedDict):
    count: int
    period: float
    burst: int


class Limit(TypedDict):
    """A limit as returned."""

    name: str
    namespace: str
    rate: LimitRate | None
    concurrency: int | None
    draining: bool  # it is being deleted: no new task may name it
    created_at: str
    updated_at: str
    key: str | None  # the next three are about this key
    holding: int | None  # how many tasks run under it; None without a concurrency
    waiting: int | None  # how many wait for their place; None without a concurrency
    next_slot: str | None  # when the rate lets the next task start; None without a rate


class LimitPage(TypedDict):
    """The list ends where `next_cursor` is None."""

    items: list[Limit]
    next_cursor: str | None


class LimitUseFields(TypedDict, total=False):
    """A limit that a task is under, as submitted."""

    name: Required[str]
    key: str | UUID | None  # each key is counted on its own
    on_full: OnFull


class LimitUse(TypedDict):
    name: str
    key: str | None
    on_full: str


class WaitingFor(TypedDict, total=False):
    """What a task waits for: `limit` and `key`, `ordering_key`, or a `worker` of its `pool`; if it
    is WAITING, the `run` that it has started, or its `callback`."""

    limit: str
    key: str | None
    ordering_key: str
    run: str  # the id of a workflow run
    callback: bool
    worker: str  # the handler that no live worker has
    pool: str | None
