"""The calls for limits, and the models of their answers."""

from typing import Annotated

from pydantic import Field

from duetime.api.limit_models import LimitIn
from duetime.api.openapi.answers import AnswerModel, Time, list_of
from duetime.api.openapi.route import PAGING, Answer, Example, Parameter, Route

LIMITS = "Limits"
ITEM = "/v1/limits/{name}"

WORD = {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"}
NAMESPACE = Parameter(
    name="namespace", text="The namespace of the limit.", schema={**WORD, "default": "default"}
)
NAMESPACES = Parameter(
    name="namespace",
    text="Only limits of this namespace; `*` means of all.",
    schema={"type": "string", "default": "default"},
)
KEY = Parameter(
    name="key",
    text="`holding`, `waiting` and `next_slot` are those of this key; without it, of tasks without"
    " a key.",
    schema=WORD,
)
DRAIN = Parameter(
    name="drain",
    text="Delete it also if it is in use: no new task may name it, and it goes when the last task"
    " under it has ended.",
    schema={"type": "boolean", "default": False},
)


class LimitRate(AnswerModel):
    """How often tasks may start."""

    count: int
    period: Annotated[float, Field(ge=1)]
    burst: int


class Limit(AnswerModel):
    """A limit that tasks name. Each key that they use it with is counted on its own."""

    name: str
    namespace: str
    rate: LimitRate | None
    concurrency: int | None
    draining: bool
    """It is being deleted: no new task may name it."""
    created_at: Time
    updated_at: Time
    key: str | None
    """The key that the next three fields are about."""
    holding: int | None
    """How many tasks run under the limit; null without a `concurrency`."""
    waiting: int | None
    """How many tasks wait for their place; null without a `concurrency`."""
    next_slot: Time | None
    """When the rate lets the next task start; null without a `rate`."""


LimitList = list_of(Limit)

ROUTES = (
    Route(
        method="PUT",
        path=ITEM,
        operation="putLimit",
        tag=LIMITS,
        summary="Create or replace a limit",
        text="Give `rate`, `concurrency`, or both. A lower limit holds for what starts next: tasks"
        " that run go on. Executors know of a change within 5 seconds. A limit that is being"
        " deleted stays.",
        parameters=[NAMESPACE],
        body=LimitIn,
        answers=[Answer(status=200, text="The limit.", model=Limit)],
        example=Example(body={"rate": {"count": 5, "period": 1}, "concurrency": 3}),
    ),
    Route(
        method="GET",
        path=ITEM,
        operation="getLimit",
        tag=LIMITS,
        summary="Read a limit, and how it is used",
        parameters=[NAMESPACE, KEY],
        answers=[Answer(status=200, text="The limit.", model=Limit)],
        problems=[404],
        example=Example(query={"key": "acct-7"}, after=["putLimit"]),
    ),
    Route(
        method="GET",
        path="/v1/limits",
        operation="listLimits",
        tag=LIMITS,
        summary="List limits",
        text="By namespace and name.",
        parameters=[NAMESPACES, KEY, *PAGING],
        answers=[Answer(status=200, text="A page of limits.", model=LimitList)],
        example=Example(after=["putLimit"]),
    ),
    Route(
        method="DELETE",
        path=ITEM,
        operation="deleteLimit",
        tag=LIMITS,
        summary="Delete a limit",
        text="It is a conflict while tasks hold the limit or wait for it, unless `drain` is true."
        " Tasks that still name a deleted limit start without it.",
        parameters=[NAMESPACE, DRAIN],
        answers=[Answer(status=204, text="It is deleted, or will be.")],
        problems=[404, 409],
        example=Example(query={"drain": "true"}, after=["putLimit"]),
    ),
)
