"""Which tasks a request is about: from the query of a list, and from the body of a bulk operation.

Both have the same fields and the same rules. In a query `status` and `tag` may be repeated, and the
statuses may also be separated by commas; in a body both may be lists.
"""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from duetime.api.http import FieldError, invalid
from duetime.api.query import ALL_NAMESPACES, Query
from duetime.api.task_models import read_body
from duetime.api.validation import ErrorType, Moment
from duetime.core.allowed_targets import TARGET_TYPES
from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.ids import LENGTH, is_id
from duetime.core.lanes import Queue, queue_in
from duetime.core.lifecycle import Status
from duetime.core.task_filter import TaskFilter
from duetime.core.task_query import BadQuery, parse_query
from duetime.core.times import SECOND, Millis
from duetime.core.value import replace

CLOCK_SKEW: Millis = 1 * SECOND  # between two machines that make ids
MAX_TAGS = 10
MAX_TAG = 64 + 1 + 256  # the longest key, a colon, the longest value
MAX_NAME = 256

REPEATED = ("status", "tag", "lane")
PERIODS = (("created_since", "created_before"), ("due_since", "due_before"))
TIMES = tuple(name for period in PERIODS for name in period)


def _namespace(text: str) -> str:
    if text != ALL_NAMESPACES and not is_word(text):
        raise ValueError(f"{WORD_RULE}, or * for all")
    return text


def _word(text: str) -> str:
    if not is_word(text):
        raise ValueError(WORD_RULE)
    return text


def _task_id(text: str) -> str:
    if not is_id(text):
        raise ValueError(f"must be the id of a task: {LENGTH} digits and capital letters")
    return text


def _run_id(text: str) -> str:
    if not is_id(text):
        raise ValueError(f"must be the id of a run: {LENGTH} digits and capital letters")
    return text


def _target_type(text: str) -> str:
    if text not in TARGET_TYPES:
        raise ValueError(f"must be one of {', '.join(TARGET_TYPES)}")
    return text


def _statuses(given: Any) -> list[Status]:
    texts = given if isinstance(given, list) else [given]
    if not texts or any(text not in list(Status) for text in texts):
        raise ValueError(f"must be one of {', '.join(Status)}, or several")
    return [Status(text) for text in texts]


def _queues(given: Any) -> list[Queue]:
    texts = given if isinstance(given, list) else [given]
    if not texts:
        raise ValueError("must be a lane, or several")
    return [queue_in(text) for text in texts]


def _tags(given: Any) -> list[str]:
    texts = given if isinstance(given, list) else [given]
    if not 1 <= len(texts) <= MAX_TAGS or not all(_is_tag(text) for text in texts):
        raise ValueError(f"must be key:value or key, at most {MAX_TAG} characters; at most 10")
    return texts


def _is_tag(text: Any) -> bool:
    return isinstance(text, str) and 1 <= len(text) <= MAX_TAG


Word = Annotated[str, AfterValidator(_word)]
TaskId = Annotated[str, AfterValidator(_task_id)]
RunId = Annotated[str, AfterValidator(_run_id)]
TargetType = Annotated[
    str, AfterValidator(_target_type), Field(json_schema_extra={"enum": [*TARGET_TYPES]})
]


class FilterIn(BaseModel):
    """The fields of a filter. A bulk operation adds its own fields in a subclass."""

    model_config = ConfigDict(extra="forbid", strict=True)

    namespace: Annotated[str, AfterValidator(_namespace)] | None = None
    status: Annotated[list[Status], BeforeValidator(_statuses)] | None = None
    schedule_id: Word | None = None
    parent_id: TaskId | None = None
    tag: Annotated[list[str], BeforeValidator(_tags)] | None = None
    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)] | None = None
    handler: Word | None = None
    target: TargetType | None = None
    lane: Annotated[list[Queue], BeforeValidator(_queues)] | None = None
    error_type: ErrorType | None = None
    with_key: Word | None = None
    run_id: RunId | None = None
    due_since: Moment | None = None
    due_before: Moment | None = None
    created_since: Moment | None = None
    created_before: Moment | None = None
    upcoming: bool | None = None
    q: str | None = None  # with_query puts its fields in its place

    def filter(self, now: Millis, statuses: frozenset[Status] | None = None) -> TaskFilter:
        """Returns the filter; with `statuses` in place of its own. Raises Problem if its times
        exclude each other."""
        for first, last in PERIODS:
            since, before = getattr(self, first), getattr(self, last)
            if since is not None and before is not None and since >= before:
                raise invalid([FieldError(last, f"must be later than {first}")])
        return TaskFilter(
            namespace=_wanted(self.namespace),
            statuses=frozenset(self.status or ()) if statuses is None else statuses,
            schedule_id=self.schedule_id,
            parent_id=self.parent_id,
            tags=tuple(dict.fromkeys(self.tag or ())),
            name=self.name,
            handler=self.handler,
            target=self.target,
            queues=frozenset(self.lane or ()),
            error_type=self.error_type,
            with_key=self.with_key,
            run_id=self.run_id,
            due_since=self.due_since,
            due_before=self.due_before,
            created_since=self.created_since,
            created_before=self.created_before,
            # Every submitted task has an id older than this, even if clocks differ.
            before=now + CLOCK_SKEW if self.upcoming is False else None,
        )


def with_query(fields: dict[str, Any], now: Millis) -> dict[str, Any]:
    """Returns the fields of a filter with those that its `q` asks for in the place of `q`. Raises
    Problem for a query that cannot be read, or asks for a field that is given beside it."""
    text = fields.get("q")
    if not isinstance(text, str):  # the model refuses another type
        return fields
    try:
        asked = parse_query(text, now)
    except BadQuery as error:
        raise invalid([FieldError("q", str(error), error.position)]) from None
    if twice := asked.keys() & fields.keys():
        raise invalid([FieldError(name, "is given in q, too") for name in sorted(twice)])
    return {name: given for name, given in fields.items() if name != "q"} | asked


def filter_of_query(query: Query, now: Millis) -> TaskFilter:
    """Takes the fields of a filter from a query, and leaves the others. An id in `q` and a
    run are searched in every namespace, unless one is given."""
    given: dict[str, Any] = {
        name: query.text(name)
        for name in FilterIn.model_fields
        if name not in (*REPEATED, *TIMES, "upcoming")
    }
    given |= {name: query.several(name, separator=",") for name in ("status", "lane")}
    given["tag"] = query.several("tag")
    given |= {name: query.time_text(name) for name in TIMES}
    upcoming = query.flag("upcoming", default=True)
    fields = {name: value for name, value in given.items() if value}
    fields = with_query(fields, now)
    ids = fields.pop("id", ())
    if ids or "run_id" in fields:
        fields.setdefault("namespace", ALL_NAMESPACES)
    found = read_body(FilterIn, {**fields, "upcoming": upcoming}).filter(now)
    return replace(found, ids=tuple(ids))


def _wanted(namespace: str | None) -> str | None:
    return None if namespace == ALL_NAMESPACES else namespace or "default"
