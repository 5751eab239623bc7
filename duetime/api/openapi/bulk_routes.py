"""The calls that change every task of a filter."""

from duetime.api.bulk_tasks import BulkIn, ShiftIn
from duetime.api.openapi.bulk_answers import BulkResult
from duetime.api.openapi.route import IDEMPOTENCY_KEY, Answer, Example, Route
from duetime.api.openapi.task_routes import TASKS

_PAGES = (
    "The fields of the list select the tasks; give at least one that does. With `dry_run` nothing"
    " changes, and `changed` is what would. A call ends after 1,000 tasks or a few seconds: while"
    " `next_cursor` is not null, send it again with that `cursor`."
)
_ANSWER = Answer(status=200, text="What was changed, and what was not.", model=BulkResult)
_GROWTH = {"tag": ["team:growth"], "dry_run": True}

ROUTES = (
    Route(
        method="POST",
        path="/v1/tasks/cancel",
        operation="cancelTasks",
        tag=TASKS,
        summary="Cancel every task that matches",
        text=f"A task that is running is asked to stop. {_PAGES}",
        body=BulkIn,
        answers=[_ANSWER],
        example=Example(body={**_GROWTH, "status": ["PENDING"]}, after=["submitTask"]),
    ),
    Route(
        method="POST",
        path="/v1/tasks/retry",
        operation="retryTasks",
        tag=TASKS,
        summary="Run every dead task that matches again",
        text=_PAGES,
        body=BulkIn,
        answers=[_ANSWER],
        example=Example(body=_GROWTH, after=["submitTask"], dead=True),
    ),
    Route(
        method="POST",
        path="/v1/tasks/shift",
        operation="shiftTasks",
        tag=TASKS,
        summary="Move the due time of every task that matches",
        text="Only a task that is not running is moved, and none into the past. With an idempotency"
        f" key a repeated shift moves no task twice. {_PAGES}",
        parameters=[IDEMPOTENCY_KEY],
        body=ShiftIn,
        answers=[_ANSWER],
        example=Example(body={**_GROWTH, "by": 3_600}, after=["submitTask"]),
    ),
)
