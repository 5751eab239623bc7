"""The calls of workers."""

from duetime.api.openapi.bodies import ChildrenBody, RenewBody, ReportBody
from duetime.api.openapi.route import Answer, Example, Route
from duetime.api.openapi.submission_answers import BatchResults
from duetime.api.openapi.worker_answers import (
    LeaseAnswer,
    OutcomeAnswer,
    RenewAnswer,
    WorkerList,
)
from duetime.api.worker_models import LeaseIn

WORKERS = "Workers"
RUNNER_ONLY = " Only a runner has this route; a deployed API answers 404."
EXAMPLE_LEASE = {"id": "01KA5V8Y3M0000000000000001", "holder": f"w:gpu-1:{'0' * 32}"}

ROUTES = (
    Route(
        method="GET",
        path="/v1/workers",
        operation="listWorkers",
        tag=WORKERS,
        summary="See who works, and on what",
        text="Workers that were seen within a minute: HTTP workers of a runner, or those of the"
        " pools of a deployment. The executors of Duetime itself are not among them.",
        answers=[Answer(status=200, text="The workers.", model=WorkerList)],
        example=Example(),
    ),
    Route(
        method="POST",
        path="/v1/workers/lease",
        operation="leaseTasks",
        tag=WORKERS,
        summary="Lease tasks that are due",
        text="The call waits up to `wait` seconds for the first. Send a call without an answer"
        " again, unchanged: it leases nothing new." + RUNNER_ONLY,
        body=LeaseIn,
        answers=[Answer(status=200, text="The leases, if any.", model=LeaseAnswer)],
        problems=[404, 409],
        example=Example(
            body={
                "worker": "gpu-1",
                "handlers": ["duetime.hello"],
                "max": 10,
                "request": "01KA5V8Y3M0000000000000002",
            }
        ),
    ),
    Route(
        method="POST",
        path="/v1/workers/renew",
        operation="renewLeases",
        tag=WORKERS,
        summary="Renew leases",
        text="A worker renews every lease each 10 seconds. Of a lease that is lost it stops the"
        " handler." + RUNNER_ONLY,
        body=RenewBody,
        answers=[Answer(status=200, text="One result each.", model=RenewAnswer)],
        problems=[404],
        example=Example(body={"worker": "gpu-1", "leases": [EXAMPLE_LEASE]}),
    ),
    Route(
        method="POST",
        path="/v1/workers/outcome",
        operation="reportOutcomes",
        tag=WORKERS,
        summary="Report how attempts ended",
        text="The runner decides what follows. The same outcome by the same holder may be reported"
        " again." + RUNNER_ONLY,
        body=ReportBody,
        answers=[Answer(status=200, text="One result each.", model=OutcomeAnswer)],
        problems=[404],
        example=Example(
            body={
                "worker": "gpu-1",
                "outcomes": [{**EXAMPLE_LEASE, "outcome": "succeeded", "result": {"rows": 7}}],
            }
        ),
    ),
    Route(
        method="POST",
        path="/v1/workers/submit",
        operation="submitChildren",
        tag=WORKERS,
        summary="Submit tasks from a running task",
        text="The runner makes the ids of the children from the parent and from what names each:"
        " its `step`, or else its handler and payload. A repeated call submits nothing new."
        + RUNNER_ONLY,
        body=ChildrenBody,
        answers=[Answer(status=200, text="One result each.", model=BatchResults)],
        problems=[404, 409],
        example=Example(
            body={
                "worker": "gpu-1",
                **EXAMPLE_LEASE,
                "tasks": [{"target": {"type": "python", "handler": "duetime.hello"}, "step": "a"}],
            }
        ),
    ),
)
