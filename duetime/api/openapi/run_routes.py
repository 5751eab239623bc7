"""The calls for runs, and those that end the wait of a step."""

from duetime.api.callbacks import CompletionIn
from duetime.api.openapi.answers import Task
from duetime.api.openapi.bodies import RunBody
from duetime.api.openapi.limit_routes import WORD
from duetime.api.openapi.route import (
    IDEMPOTENCY_KEY,
    LOCATION,
    PAGING,
    Answer,
    Example,
    Parameter,
    Route,
)
from duetime.api.openapi.task_parameters import IF_NONE_MATCH
from duetime.api.openapi.workflow_answers import (
    Accepted,
    Run,
    RunItemList,
    RunOrOrder,
    RunSummaryList,
)
from duetime.api.openapi.workflow_routes import DRY_RUN, HELLO
from duetime.api.runs import RetryRunIn
from duetime.core.workflows.run import RunStatus

RUNS = "Runs"
ITEM = "/v1/runs/{id}"

ETAG = {"ETag": "Send it as `If-None-Match` to learn whether the run has changed."}

FILTERS = (
    Parameter(
        name="status",
        text="Only runs in this status.",
        schema={"type": "string", "enum": [*RunStatus]},
    ),
    Parameter(
        name="namespace",
        text="Only runs of this namespace; `*` means of all.",
        schema={"type": "string", "default": "default"},
    ),
    Parameter(name="workflow", text="Only runs of this workflow.", schema=WORD),
    Parameter(name="tag", text="Only runs with this tag: `team:growth`, or `team` for any value."),
)

ROUTES = (
    Route(
        method="POST",
        path="/v1/runs",
        operation="startRun",
        tag=RUNS,
        summary="Start a run",
        text="Give the `workflow` to run, or `steps`. The run follows the version that is current"
        " now, or the one that you name: `etl@3`.",
        parameters=[DRY_RUN, IDEMPOTENCY_KEY],
        body=RunBody,
        answers=[
            Answer(status=201, text="The run is stored.", model=Run, headers=LOCATION),
            Answer(
                status=200,
                text="A replay of an idempotency key, or the order of a dry run.",
                model=RunOrOrder,
            ),
        ],
        problems=[409],
        example=Example(
            body={
                "input": {"urls": ["https://example.com/1.png", "https://example.com/2.png"]},
                "steps": [
                    {"name": "check", "target": HELLO},
                    {
                        "name": "resize",
                        "needs": ["check"],
                        "map": {"items": "{{input.urls}}"},
                        "target": HELLO,
                        "payload": {"name": "{{item}}"},
                    },
                    {
                        "name": "approve",
                        "needs": ["resize"],
                        "target": HELLO,
                        "payload": {"name": "{{callback.url}}"},
                        "callback": {"timeout": 86400},
                    },
                ],
            }
        ),
    ),
    Route(
        method="GET",
        path="/v1/runs",
        operation="listRuns",
        tag=RUNS,
        summary="List runs",
        text="Newest first, without their steps.",
        parameters=[*FILTERS, *PAGING],
        answers=[Answer(status=200, text="A page of runs.", model=RunSummaryList)],
        example=Example(query={"status": "RUNNING"}, after=["startRun"]),
    ),
    Route(
        method="GET",
        path=ITEM,
        operation="getRun",
        tag=RUNS,
        summary="Read a run and its steps",
        parameters=[IF_NONE_MATCH],
        answers=[
            Answer(status=200, text="The run.", model=Run, headers=ETAG),
            Answer(status=304, text="Nothing has changed since.", headers=ETAG),
        ],
        example=Example(after=["startRun"]),
    ),
    Route(
        method="DELETE",
        path=ITEM,
        operation="cancelRun",
        tag=RUNS,
        summary="Cancel a run",
        text="Its steps are cancelled, and its `finally` steps run. A second call cancels those,"
        " too.",
        answers=[Answer(status=202, text="The run is CANCELLING.", model=Run)],
        problems=[409],
        example=Example(after=["startRun"]),
    ),
    Route(
        method="POST",
        path=f"{ITEM}/retry",
        operation="retryRun",
        tag=RUNS,
        summary="Retry a failed run",
        text="The steps that failed or were stopped run again, and every step behind them. What"
        " succeeded before or beside them is kept.",
        body=RetryRunIn,
        body_optional=True,
        answers=[Answer(status=200, text="The run.", model=Run)],
        problems=[409],
        example=Example(body={"steps": ["check"]}, after=["startRun"], dead=True),
    ),
    Route(
        method="GET",
        path=f"{ITEM}/steps/{{name}}/items",
        operation="listItems",
        tag=RUNS,
        summary="List the items of a map",
        text="In their order.",
        parameters=PAGING,
        answers=[Answer(status=200, text="A page of items.", model=RunItemList)],
        example=Example(after=["startRun"], waiting=True),
    ),
    Route(
        method="POST",
        path="/v1/callbacks/{token}",
        operation="sendCallback",
        tag=RUNS,
        summary="Send a callback",
        text="Ends the wait of a step with a `callback`. The token is the authorization. Deployed,"
        " callbacks are off by default.",
        body=CompletionIn,
        answers=[Answer(status=200, text="The step goes on.", model=Accepted)],
        problems=[404, 409],
        example=Example(body={"result": {"approved": True}}, after=["startRun"], waiting=True),
    ),
    Route(
        method="POST",
        path="/v1/tasks/{id}/complete",
        operation="completeTask",
        tag=RUNS,
        summary="Complete a waiting task",
        text="For operators: ends the wait of a WAITING task, whatever it waits for.",
        body=CompletionIn,
        answers=[Answer(status=200, text="The task.", model=Task)],
        problems=[409],
        example=Example(
            body={"error": {"type": "Rejected", "message": "too expensive"}},
            after=["startRun"],
            waiting=True,
        ),
    ),
)
