"""The query parameters of the lists of tasks, and the headers of a task."""

from duetime.api.filters import MAX_NAME, MAX_TAG, MAX_TAGS
from duetime.api.openapi.route import PAGING, TIME, Parameter
from duetime.api.task_list import Fields
from duetime.core.allowed_targets import TARGET_TYPES
from duetime.core.ids import LENGTH
from duetime.core.lifecycle import Status
from duetime.core.listings import ListOrder
from duetime.core.task_query import MAX_ERROR_TYPE, MAX_QUERY

_WORD = "[A-Za-z0-9._:-]{1,128}"
_A_WORD = {"type": "string", "pattern": f"^{_WORD}$"}

NAMESPACE = Parameter(
    name="namespace",
    text="Only tasks of this namespace; `*` means of all.",
    schema={"type": "string", "pattern": rf"^(\*|{_WORD})$", "default": "default"},
)
STATUS = Parameter(
    name="status",
    text="Only tasks in one of these statuses. Repeat it, or separate them by commas.",
    schema={"type": "array", "items": {"type": "string", "enum": [s.value for s in Status]}},
)
TAG = Parameter(
    name="tag",
    text="Only tasks with this tag: `team:growth`, or `team` for any value. Repeat it for tasks"
    " that have all of them.",
    schema={
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": MAX_TAG},
        "maxItems": MAX_TAGS,
    },
)
SCHEDULE_ID = Parameter(name="schedule_id", text="Only runs of this schedule.", schema=_A_WORD)
PARENT_ID = Parameter(
    name="parent_id",
    text="Only tasks that the handler of this task has submitted.",
    schema={"type": "string", "minLength": LENGTH, "maxLength": LENGTH},
)
NAME = Parameter(
    name="name",
    text="Only tasks whose name begins with this text; upper and lower case differ.",
    schema={"type": "string", "maxLength": MAX_NAME},
)
HANDLER = Parameter(name="handler", text="Only tasks of this Python handler.", schema=_A_WORD)
TARGET = Parameter(
    name="target",
    text="Only tasks with this type of target.",
    schema={"type": "string", "enum": [*TARGET_TYPES]},
)
LANE = Parameter(
    name="lane",
    text="Only tasks in one of these lanes: `low` of those without a pool, or `batch/low` of the"
    " pool `batch`. Repeat it, or separate them by commas.",
    schema={"type": "array", "items": {"type": "string"}},
)
LIST_ERROR_TYPE = Parameter(
    name="error_type",
    text="Only tasks whose last failure has exactly this type, such as `ValueError` or `Http503`.",
    schema={"type": "string", "maxLength": MAX_ERROR_TYPE},
)
WITH_KEY = Parameter(name="with_key", text="Only tasks with this idempotency key.", schema=_A_WORD)
RUN_ID = Parameter(
    name="run_id",
    text="Only the steps of this workflow run, or the items of this map, in their order and in"
    " every namespace, unless one is given. Lists without it have no steps of runs.",
    schema={"type": "string", "minLength": LENGTH, "maxLength": LENGTH},
)
DUE_SINCE = Parameter(name="due_since", text="Only tasks that are due then or later.", schema=TIME)
DUE_BEFORE = Parameter(name="due_before", text="Only tasks that are due earlier.", schema=TIME)
CREATED_SINCE = Parameter(
    name="created_since", text="Only tasks that were created then or later.", schema=TIME
)
CREATED_BEFORE = Parameter(
    name="created_before", text="Only tasks that were created earlier.", schema=TIME
)
UPCOMING = Parameter(
    name="upcoming",
    text="Runs of schedules are created up to 4 minutes ahead; `false` leaves out those whose fire"
    " time is in the future.",
    schema={"type": "boolean", "default": True},
)
ORDER = Parameter(
    name="order",
    text="`newest`: by the UTC day of creation, then by id. `soonest`: by due time, only tasks that"
    " are still to start and are due from now on.",
    schema={"type": "string", "enum": [o.value for o in ListOrder], "default": "newest"},
)
FIELDS = Parameter(
    name="fields",
    text="`summary` returns a TaskSummary for each task: without payload, result and other long"
    " fields.",
    schema={"type": "string", "enum": [f.value for f in Fields], "default": "all"},
)
IF_NONE_MATCH = Parameter(
    name="If-None-Match",
    text="The `ETag` of an earlier answer. If nothing has changed since, the answer is 304 without"
    " a body.",
    header=True,
)
PREFER = Parameter(
    name="Prefer",
    text="`wait=20` asks the local runner to answer when the task changes its status or has ended,"
    " or after 20 seconds (at most 60). The answer then has `Preference-Applied`. A deployed API"
    " answers at once, and so does a request with `If-None-Match`.",
    header=True,
)

QUERY = Parameter(
    name="q",
    text="The same filter in one text: `status:DEAD,RETRYING handler:shop.restock since:24h`. The"
    " words are `status`, `id`, `ns`, `handler`, `target`, `tag.KEY`, `schedule`, `run`, `lane`,"
    " `error`, `key`, `due`, `since`, `until` and `name`. A field is given here or as a parameter,"
    " not both.",
    schema={"type": "string", "maxLength": MAX_QUERY},
)

LIST_PARAMETERS = (
    QUERY,
    *(NAMESPACE, STATUS, TAG, SCHEDULE_ID, PARENT_ID, NAME, HANDLER, TARGET),
    *(LANE, LIST_ERROR_TYPE, WITH_KEY, RUN_ID, DUE_SINCE, DUE_BEFORE),
    *(CREATED_SINCE, CREATED_BEFORE, UPCOMING, ORDER, FIELDS, *PAGING),
)
