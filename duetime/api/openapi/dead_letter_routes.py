"""The calls for dead letters."""

from duetime.api.bulk import MAX_TASKS
from duetime.api.dead_letters import RedriveIn
from duetime.api.discard import MAX_IDS
from duetime.api.openapi.answers import TaskList
from duetime.api.openapi.bulk_answers import BulkResult, DeadGroups, RedriveResult
from duetime.api.openapi.route import CURSOR, PAGING, TIME, Answer, Example, Parameter, Route
from duetime.api.validation import FINGERPRINT
from duetime.core.task_query import MAX_ERROR_TYPE

DEAD_LETTERS = "Dead letters"

NAMESPACE = Parameter(
    name="namespace",
    text="Only tasks of this namespace; without it, of all.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
)
ERROR_TYPE = Parameter(
    name="error_type",
    text="Only tasks whose last error has exactly this type, such as `ValueError` or `Http503`.",
    schema={"type": "string", "maxLength": MAX_ERROR_TYPE},
)
HANDLER = Parameter(
    name="handler",
    text="Only tasks of this handler.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
)
CAUSE = Parameter(
    name="fingerprint",
    text="Only tasks of this group.",
    schema={"type": "string", "pattern": FINGERPRINT},
)
DIED_AFTER = Parameter(name="died_after", text="Only tasks that died then or later.", schema=TIME)
DIED_BEFORE = Parameter(name="died_before", text="Only tasks that died before.", schema=TIME)
FILTERS = (NAMESPACE, ERROR_TYPE, HANDLER, CAUSE, DIED_AFTER, DIED_BEFORE)
SINCE = Parameter(name="since", text="Another name of `died_after`.", schema=TIME)
IDS = Parameter(
    name="ids",
    text="Exactly these tasks, separated by commas or repeated.",
    schema={"type": "array", "items": {"type": "string"}, "maxItems": MAX_IDS},
)
ALL = Parameter(name="all", text="Every dead task.", schema={"type": "boolean"})
DRY_RUN = Parameter(name="dry_run", text="Only count.", schema={"type": "boolean"})
DISCARD_LIMIT = Parameter(
    name="limit",
    text="The most to discard in this call; not with `ids`.",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_TASKS, "default": MAX_TASKS},
)

ROUTES = (
    Route(
        method="GET",
        path="/v1/dead-letters",
        operation="listDeadLetters",
        tag=DEAD_LETTERS,
        summary="List dead tasks",
        text="The latest death comes first.",
        parameters=[*FILTERS, *PAGING],
        answers=[Answer(status=200, text="A page of tasks.", model=TaskList)],
        example=Example(query={"error_type": "PermanentError"}, after=["submitTask"], dead=True),
    ),
    Route(
        method="GET",
        path="/v1/dead-letters/groups",
        operation="groupDeadLetters",
        tag=DEAD_LETTERS,
        summary="Group dead tasks by their cause",
        text="The cause is the error type, the target and the message without quoted text and words"
        " with a digit. The largest group comes first. A call reads at most 5,000 dead tasks, the"
        " latest deaths first: unless `complete` is true, send it again with `next_cursor` for the"
        " groups of the next ones.",
        parameters=[*FILTERS, SINCE, CURSOR],
        answers=[Answer(status=200, text="The groups.", model=DeadGroups)],
        example=Example(after=["submitTask"], dead=True),
    ),
    Route(
        method="POST",
        path="/v1/dead-letters/redrive",
        operation="redriveDeadLetters",
        tag=DEAD_LETTERS,
        summary="Run many dead tasks again",
        text='Give exactly one of `ids`, a filter, or `"all": true`. A call redrives at most 1,000'
        " tasks, newest first: while `next_cursor` is not null, send it again with that `cursor`.",
        body=RedriveIn,
        answers=[Answer(status=200, text="What was redriven.", model=RedriveResult)],
        example=Example(
            body={"error_type": "PermanentError", "dry_run": True}, after=["submitTask"], dead=True
        ),
    ),
    Route(
        method="DELETE",
        path="/v1/dead-letters",
        operation="discardDeadLetters",
        tag=DEAD_LETTERS,
        summary="Give dead tasks up",
        text="They become CANCELLED with the reason `discarded`, and cannot be retried any more."
        " Give exactly one of `ids`, a filter, or `all=true`. A call ends after 1,000 tasks or a"
        " few seconds: while `next_cursor` is not null, send it again with that `cursor`.",
        parameters=[
            IDS,
            *FILTERS,
            *(ALL, DRY_RUN, DISCARD_LIMIT, CURSOR),
        ],
        answers=[Answer(status=200, text="What was discarded.", model=BulkResult)],
        example=Example(
            query={"error_type": "PermanentError", "dry_run": "true"},
            after=["submitTask"],
            dead=True,
        ),
    ),
)
