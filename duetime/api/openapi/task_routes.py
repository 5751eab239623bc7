"""The calls for tasks and dead letters."""

from duetime.api.dead_letters import RedriveIn
from duetime.api.openapi.answers import AttemptList, BatchResults, RedriveResult, Task, TaskList
from duetime.api.openapi.bodies import BatchBody
from duetime.api.openapi.route import (
    IDEMPOTENCY_KEY,
    PAGING,
    TIME,
    Answer,
    Example,
    Parameter,
    Route,
)
from duetime.api.task_models import NothingIn, TaskIn
from duetime.api.validation import MAX_ERROR_TYPE
from duetime.core.lifecycle import Status

TASKS, DEAD_LETTERS = "Tasks", "Dead letters"

NAMESPACE = Parameter(
    name="namespace",
    text="Only tasks of this namespace.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$", "default": "default"},
)
STATUS = Parameter(
    name="status",
    text="Only tasks in this status.",
    schema={"type": "string", "enum": [status.value for status in Status]},
)
SCHEDULE_ID = Parameter(
    name="schedule_id",
    text="Only runs of this schedule.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
)
UPCOMING = Parameter(
    name="upcoming",
    text="Runs of schedules are created up to 4 minutes ahead; `false` leaves out those whose fire"
    " time is in the future.",
    schema={"type": "boolean", "default": True},
)
ANY_NAMESPACE = Parameter(
    name="namespace",
    text="Only tasks of this namespace; without it, of all.",
    schema={"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
)
ERROR_TYPE = Parameter(
    name="error_type",
    text="Only tasks whose last error has exactly this type, such as `ValueError` or `Http503`.",
    schema={"type": "string", "maxLength": MAX_ERROR_TYPE},
)
DIED_AFTER = Parameter(name="died_after", text="Only tasks that died then or later.", schema=TIME)
DIED_BEFORE = Parameter(name="died_before", text="Only tasks that died before.", schema=TIME)

HELLO = {"target": {"type": "python", "handler": "duetime.hello"}, "payload": {"name": "Ada"}}

ROUTES = (
    Route(
        method="POST",
        path="/v1/tasks",
        operation="submitTask",
        tag=TASKS,
        summary="Submit a task",
        text="The task is stored before the answer is sent, and then runs when it is due: now,"
        " `delay` seconds from now, or at `run_at`.",
        parameters=[IDEMPOTENCY_KEY],
        body=TaskIn,
        answers=[
            Answer(status=201, text="The stored task.", model=Task, location=True),
            Answer(status=200, text="A replay of an idempotency key.", model=Task, location=True),
        ],
        problems=[409],
        example=Example(body={**HELLO, "delay": 86_400, "tags": {"team": "growth"}}),
    ),
    Route(
        method="GET",
        path="/v1/tasks",
        operation="listTasks",
        tag=TASKS,
        summary="List tasks",
        text="Newest first. Filters apply while reading, so a page may be short.",
        parameters=[NAMESPACE, STATUS, SCHEDULE_ID, UPCOMING, *PAGING],
        answers=[Answer(status=200, text="A page of tasks.", model=TaskList)],
        example=Example(query={"status": "PENDING", "limit": "20"}, after=["submitTask"]),
    ),
    Route(
        method="POST",
        path="/v1/tasks/batch",
        operation="submitTasks",
        tag=TASKS,
        summary="Submit up to 100 tasks",
        text="The results have the order of the tasks. A task that is refused does not affect the"
        " others. Idempotency keys go into the tasks.",
        body=BatchBody,
        answers=[Answer(status=200, text="A result for each task.", model=BatchResults)],
        example=Example(body={"tasks": [{**HELLO, "delay": 3_600}, {**HELLO, "priority": "low"}]}),
    ),
    Route(
        method="GET",
        path="/v1/tasks/{id}",
        operation="getTask",
        tag=TASKS,
        summary="Read a task",
        answers=[Answer(status=200, text="The task.", model=Task)],
        example=Example(after=["submitTask"]),
    ),
    Route(
        method="DELETE",
        path="/v1/tasks/{id}",
        operation="cancelTask",
        tag=TASKS,
        summary="Cancel a task",
        text="A task that has ended cannot be cancelled (409).",
        answers=[
            Answer(status=200, text="The task, CANCELLED.", model=Task),
            Answer(status=202, text="The task is running and was asked to stop.", model=Task),
        ],
        problems=[409],
        example=Example(after=["submitTask"]),
    ),
    Route(
        method="GET",
        path="/v1/tasks/{id}/attempts",
        operation="listAttempts",
        tag=TASKS,
        summary="List the attempts of a task",
        text="Oldest first, each with its error.",
        parameters=PAGING,
        answers=[Answer(status=200, text="A page of attempts.", model=AttemptList)],
        example=Example(after=["submitTask"]),
    ),
    Route(
        method="POST",
        path="/v1/tasks/{id}/retry",
        operation="retryTask",
        tag=TASKS,
        summary="Run a dead task again",
        text="It gets as many new attempts as it had at first. Only a DEAD task can be retried"
        " (409).",
        body=NothingIn,
        body_optional=True,
        answers=[Answer(status=200, text="The task, RETRYING and due now.", model=Task)],
        problems=[409],
        example=Example(after=["submitTask"], dead=True),
    ),
    Route(
        method="GET",
        path="/v1/dead-letters",
        operation="listDeadLetters",
        tag=DEAD_LETTERS,
        summary="List dead tasks",
        text="The latest death comes first.",
        parameters=[ANY_NAMESPACE, ERROR_TYPE, DIED_AFTER, DIED_BEFORE, *PAGING],
        answers=[Answer(status=200, text="A page of tasks.", model=TaskList)],
        example=Example(query={"error_type": "PermanentError"}, after=["submitTask"], dead=True),
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
)
