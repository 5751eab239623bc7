"""What the document says about one call."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pydantic import BaseModel

from duetime.api.query import DEFAULT_LIMIT, MAX_LIMIT
from duetime.core.value import value

JSON = "application/json"
Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
TIME: Schema = {"type": "string", "format": "date-time"}


@value(frozen=True, kw_only=True, slots=True)
class Parameter:
    """A query parameter, or a header if `header` is true."""

    name: str
    text: str
    schema: Schema = field(default_factory=lambda: TEXT)
    header: bool = False


@value(frozen=True, kw_only=True, slots=True)
class Answer:
    """A successful answer: its status, and the model of its body or, for another media type than
    JSON, its schema."""

    status: int
    text: str
    model: type[BaseModel] | None = None
    schema: Schema | None = None
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)  # names, with what they mean


@value(frozen=True, kw_only=True, slots=True)
class Example:
    """A request that the tests send. `after` names the operations whose examples they send first;
    `{id}` in the path is the id in the answer to the first of them."""

    body: Any = None
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    after: Sequence[str] = ()
    dead: bool = False  # whether the task of `after` must have died
    succeeded: bool = False  # whether it must have succeeded
    waiting: bool = False  # whether its run must wait for a callback; `{token}` is its token


@value(frozen=True, kw_only=True, slots=True)
class Route:
    """`problems` are the statuses of the problems that this call has besides those of every call
    (see document.py). `text` is Markdown of one or more paragraphs, without headings."""

    method: str
    path: str
    operation: str  # the operationId, which never changes once released
    tag: str
    summary: str
    answers: Sequence[Answer]
    example: Example
    text: str = ""
    parameters: Sequence[Parameter] = ()
    body: type[BaseModel] | None = None
    body_optional: bool = False
    problems: Sequence[int] = ()

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


LOCATION = {"Location": "The path of what is stored."}

IDEMPOTENCY_KEY = Parameter(
    name="Idempotency-Key",
    text="For 24 hours the same key with the same body returns what the first request made (200);"
    " with another body it is a 409.",
    schema={"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[A-Za-z0-9._:-]+$"},
    header=True,
)
LIMIT = Parameter(
    name="limit",
    text="The most entries of a page. A page may have fewer: only a null `next_cursor` ends a"
    " list.",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
)
CURSOR = Parameter(name="cursor", text="The `next_cursor` of the page before.")
PAGING = (LIMIT, CURSOR)
