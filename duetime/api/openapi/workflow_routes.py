"""The calls for workflows."""

from duetime.api.openapi.bodies import DefinitionBody
from duetime.api.openapi.limit_routes import WORD
from duetime.api.openapi.route import LOCATION, PAGING, Answer, Example, Parameter, Route
from duetime.api.openapi.workflow_answers import (
    Workflow,
    WorkflowOrOrder,
    WorkflowSummaryList,
)

WORKFLOWS = "Workflows"
ITEM = "/v1/workflows/{name}"

NAMESPACE = Parameter(
    name="namespace", text="The namespace of the workflow.", schema={**WORD, "default": "default"}
)
NAMESPACES = Parameter(
    name="namespace",
    text="Only workflows of this namespace; `*` means of all, one after the other.",
    schema={"type": "string", "default": "default"},
)
DRY_RUN = Parameter(
    name="dry_run",
    text="Only check it, and return the order of its steps; store nothing.",
    schema={"type": "boolean", "default": False},
)
VERSION = Parameter(
    name="version",
    text="An earlier version; without it, the current one.",
    schema={"type": "integer", "minimum": 1},
)
HELLO = {"type": "python", "handler": "duetime.hello"}

ROUTES = (
    Route(
        method="PUT",
        path=ITEM,
        operation="putWorkflow",
        tag=WORKFLOWS,
        summary="Create or change a workflow",
        text="A changed definition is the next version; the same definition changes nothing. Runs"
        " under way keep the version that they started with.",
        parameters=[NAMESPACE, DRY_RUN],
        body=DefinitionBody,
        answers=[
            Answer(status=201, text="It is created.", model=Workflow, headers=LOCATION),
            Answer(
                status=200,
                text="It is changed, or the same as before. A dry run returns the order.",
                model=WorkflowOrOrder,
            ),
        ],
        example=Example(
            body={
                "steps": [
                    {"name": "extract", "target": HELLO},
                    {
                        "name": "load",
                        "needs": ["extract"],
                        "target": HELLO,
                        "payload": {"rows": "{{steps.extract.result.rows}}"},
                    },
                ]
            }
        ),
    ),
    Route(
        method="GET",
        path=ITEM,
        operation="getWorkflow",
        tag=WORKFLOWS,
        summary="Read a workflow",
        parameters=[NAMESPACE, VERSION],
        answers=[Answer(status=200, text="The workflow.", model=Workflow)],
        problems=[404],
        example=Example(query={"version": "1"}, after=["putWorkflow"]),
    ),
    Route(
        method="GET",
        path="/v1/workflows",
        operation="listWorkflows",
        tag=WORKFLOWS,
        summary="List workflows",
        text="By name, without their steps.",
        parameters=[NAMESPACES, *PAGING],
        answers=[Answer(status=200, text="A page of workflows.", model=WorkflowSummaryList)],
        example=Example(after=["putWorkflow"]),
    ),
    Route(
        method="DELETE",
        path=ITEM,
        operation="deleteWorkflow",
        tag=WORKFLOWS,
        summary="Delete a workflow",
        text="No new run starts. Runs under way go on.",
        parameters=[NAMESPACE],
        answers=[Answer(status=204, text="It is deleted.")],
        problems=[404],
        example=Example(after=["putWorkflow"]),
    ),
)
