"""The calls for tasks."""

from duetime.api.openapi.answers import AttemptList, FoundTasks, Task
from duetime.api.openapi.bodies import BatchBody, ChangeBody
from duetime.api.openapi.bulk_answers import PurgeResult
from duetime.api.openapi.route import (
    IDEMPOTENCY_KEY,
    LOCATION,
    PAGING,
    Answer,
    Example,
    Route,
)
from duetime.api.openapi.submission_answers import BatchResults, NewTask
from duetime.api.openapi.task_parameters import IF_NONE_MATCH, LIST_PARAMETERS, PREFER
from duetime.api.purge import PurgeIn
from duetime.api.service_target_models import AnyTaskIn
from duetime.api.task_models import NothingIn

TASKS = "Tasks"
ITEM = "/v1/tasks/{id}"

ETAG = {"ETag": "Send it as `If-None-Match` to learn whether the task has changed."}
WAITED = {"Preference-Applied": "`wait=20`: the local runner has waited, up to so many seconds."}
DOWNLOAD = {"Content-Disposition": "Makes a browser save the text as a file."}

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
        body=AnyTaskIn,
        answers=[
            Answer(status=201, text="The stored task.", model=NewTask, headers=LOCATION),
            Answer(
                status=200,
                text="The task was there before: a replay of an idempotency key or an `id`, or"
                " another task that holds the unique key.",
                model=Task,
                headers=LOCATION,
            ),
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
        text="All filters that you give must match. Filters apply while reading, so a page may be"
        " short.",
        parameters=LIST_PARAMETERS,
        answers=[Answer(status=200, text="A page of tasks.", model=FoundTasks)],
        example=Example(
            query={"status": ["PENDING", "RETRYING"], "tag": ["team:growth"], "limit": "20"},
            after=["submitTask"],
        ),
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
        path=ITEM,
        operation="getTask",
        tag=TASKS,
        summary="Read a task",
        parameters=[IF_NONE_MATCH, PREFER],
        answers=[
            Answer(status=200, text="The task.", model=Task, headers=ETAG | WAITED),
            Answer(status=304, text="Nothing has changed since.", headers=ETAG),
        ],
        example=Example(after=["submitTask"]),
    ),
    Route(
        method="PATCH",
        path=ITEM,
        operation="changeTask",
        tag=TASKS,
        summary="Change a task",
        text="Send the fields to change; the others stay as they are. The target, the name and the"
        " namespace cannot change. A task that is running or has ended cannot be changed (409), nor"
        " a run of a schedule before its first attempt.",
        body=ChangeBody,
        answers=[Answer(status=200, text="The task as it is now.", model=Task)],
        problems=[409],
        example=Example(body={"delay": 172_800, "priority": "high"}, after=["submitTask"]),
    ),
    Route(
        method="DELETE",
        path=ITEM,
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
        path=f"{ITEM}/attempts",
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
        path=f"{ITEM}/run",
        operation="runTask",
        tag=TASKS,
        summary="Run a task now",
        text="The task is due now, without its jitter. A task that waits for a retry keeps its"
        " attempts. It works for the tasks that can be changed (409); for a dead task use a retry.",
        body=NothingIn,
        body_optional=True,
        answers=[Answer(status=200, text="The task, due now.", model=Task)],
        problems=[409],
        example=Example(after=["submitTask"]),
    ),
    Route(
        method="POST",
        path=f"{ITEM}/retry",
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
        path=f"{ITEM}/payload",
        operation="getPayload",
        tag=TASKS,
        summary="Download the payload of a task",
        text="The JSON text itself. A payload that is null is a 404.",
        answers=[Answer(status=200, text="The payload.", schema={}, headers=DOWNLOAD)],
        example=Example(after=["submitTask"]),
    ),
    Route(
        method="GET",
        path=f"{ITEM}/result",
        operation="getResult",
        tag=TASKS,
        summary="Download the result of a task",
        text="The JSON text itself. A task without a result is a 404.",
        answers=[Answer(status=200, text="The result.", schema={}, headers=DOWNLOAD)],
        example=Example(after=["submitTask"], succeeded=True),
    ),
    Route(
        method="POST",
        path="/v1/purge",
        operation="purgeTasks",
        tag=TASKS,
        summary="Remove finished tasks",
        text="Removes finished tasks before their retention ends. Dead tasks stay, runs of a"
        " schedule stay for 90 days, tasks with an idempotency key for a day. A call removes at"
        " most 1,000: while `next_cursor` is not null, send it again with that `cursor`.",
        body=PurgeIn,
        answers=[Answer(status=200, text="What was removed.", model=PurgeResult)],
        example=Example(body={"older_than": 604_800, "status": ["SUCCEEDED"], "dry_run": True}),
    ),
)
