"""The OpenAPI document describes every route and field of the API, and its examples work."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from duetime.api.openapi.document import ROUTES
from duetime.api.openapi.field_texts import FIELD_TEXTS, SAME_FIELDS
from duetime.api.openapi.route import Route
from tests.api.openapi import a_system, document, operation, undocumented, validator
from tests.api.service import Service, as_sent

DRAFT = "https://json-schema.org/draft/2020-12/schema"

# A generated client has a method of this name: a released name is never changed or reused.
RELEASED = {
    *("submitTask", "listTasks", "submitTasks", "getTask", "cancelTask", "listAttempts"),
    *("retryTask", "changeTask", "runTask", "getPayload", "getResult", "purgeTasks"),
    *("cancelTasks", "retryTasks", "shiftTasks"),
    *("listDeadLetters", "redriveDeadLetters", "discardDeadLetters"),
    *("createSchedule", "listSchedules", "previewSchedule", "getSchedule", "changeSchedule"),
    *("deleteSchedule", "pauseSchedule", "resumeSchedule", "triggerSchedule", "backfillSchedule"),
    *("listUpcoming", "listLedger", "getHealth", "getOpenApi", "getDocs"),
}

TO_ADD = """
{name} is a route of the API without a description. Add a Route to ROUTES in
duetime/api/openapi/{module}.py:

    Route(
        method="{method}",
        path="{path}",
        operation="verbNoun",
        tag=...,
        summary="...",
        parameters=[...],
        body=...,  # the model that reads the body, or none
        answers=[Answer(status=200, text="...", model=...)],  # a model in answers.py
        problems=[409],  # if it can conflict
        example=Example(...),  # a request that works
    ),
"""


def advice(name: str) -> str:
    method, path = name.split(" ")
    resource = path.split("/")[2] if path.count("/") > 1 else ""
    module = {
        "tasks": "task_routes",
        "dead-letters": "dead_letter_routes",
        "schedules": "schedule_routes",
        "limits": "limit_routes",
        "workflows": "workflow_routes",
        "runs": "run_routes",
    }
    return TO_ADD.format(
        name=name, method=method, path=path, module=module.get(resource, "system_routes")
    )


def names(routes: Any) -> Any:
    return pytest.mark.parametrize("route", routes, ids=lambda route: route.operation)


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (v for k, v in part.items() if k == "$ref" or str(v).startswith("#/comp"))
        part = list(part.values())
    for inner in part if isinstance(part, list) else []:
        yield from references(inner)


def test_document_describes_every_route_of_the_api(service: Service):
    registered, described = service.api.routes(), [route.name for route in ROUTES]

    missing = [name for name in registered if name not in described]
    assert not missing, "".join(advice(name) for name in missing)
    gone = [name for name in described if name not in registered]
    assert not gone, f"The API has no such route any more; remove its Route: {gone}"
    assert len(described) == len(set(described))


def test_advice_for_a_route_without_a_description_names_the_module():
    assert "duetime/api/openapi/task_routes.py" in advice("PATCH /v1/tasks/{id}")
    assert "duetime/api/openapi/system_routes.py" in advice("GET /docs")


def test_document_describes_every_field_of_the_request_bodies():
    schemas = document()["components"]["schemas"]
    lacking = [
        f'    "{name}": {{"{field}": "..."}}'
        for name, schema in schemas.items()
        if name in FIELD_TEXTS or name.endswith(("Input", "Target"))
        for field, shown in schema.get("properties", {}).items()
        if "description" not in shown
    ]
    assert not lacking, "\n".join(
        ["Add to FIELD_TEXTS in duetime/api/openapi/field_texts.py:", *lacking]
    )


def test_every_text_of_a_field_belongs_to_a_field():
    schemas = document()["components"]["schemas"]
    of_no_field = [
        f"{name}.{field}"
        for name, texts in FIELD_TEXTS.items()
        for field in texts
        if field not in schemas[name].get("properties", {}) and name != "TaskTemplateInput"
    ]
    assert of_no_field == []
    assert set(SAME_FIELDS) | set(SAME_FIELDS.values()) <= set(schemas)


def test_names_of_operations_are_unique_and_those_released_are_kept():
    used = [route.operation for route in ROUTES]

    assert len(used) == len(set(used))
    assert set(used) >= RELEASED


def test_every_reference_of_the_document_leads_to_a_component():
    found = set(references(document()))

    assert len(found) > 30
    for reference in found:
        _, kind, section, name = reference.split("/")
        assert name in document()[kind][section], reference


def test_every_schema_of_the_document_is_valid_and_used():
    used = {reference.rpartition("/")[2] for reference in references(document())}
    for name, schema in document()["components"]["schemas"].items():
        jsonschema_rs.meta.validate({"$schema": DRAFT, **schema})
        assert name in used


@names(ROUTES)
def test_example_of_a_route_is_accepted_and_its_answer_is_documented(route: Route):
    with a_system() as system:
        response = system.send_after(route)

    assert response.status == route.answers[0].status, response.body
    assert undocumented(route, response) == []


@names([route for route in ROUTES if route.example.body is not None])
def test_example_of_a_body_is_in_the_document_and_fits_its_schema(route: Route):
    content = operation(route)["requestBody"]["content"]["application/json"]

    assert content["example"] == route.example.body
    assert list(validator(content["schema"]).iter_errors(content["example"])) == []


@names([r for r in ROUTES if r.method == "GET" and any(p.name == "cursor" for p in r.parameters)])
def test_every_list_has_the_same_shape(route: Route):
    answer = operation(route)["responses"]["200"]["content"]["application/json"]["schema"]
    schema = document()["components"]["schemas"][answer["$ref"].rpartition("/")[2]]

    if route.operation == "groupDeadLetters":  # sums up what it reads, so it has no pages
        assert schema["required"] == ["items", "looked_at", "complete", "next_cursor"]
        return
    assert schema["required"] == ["items", "next_cursor"]
    assert {p.name for p in route.parameters} >= {"limit", "cursor"}


def test_idempotency_key_is_declared_where_a_repeated_call_would_do_more():
    declared = {
        r.operation for r in ROUTES if any(p.name == "Idempotency-Key" for p in r.parameters)
    }

    assert declared == {"submitTask", "createSchedule", "triggerSchedule", "shiftTasks", "startRun"}


def test_every_problem_is_the_same_schema():
    for name, answer in document()["components"]["responses"].items():
        schema = answer["content"].get("application/problem+json", {}).get("schema")
        if name in ("Unauthorized", "Throttled"):
            continue  # of the gateway
        assert schema == {"$ref": "#/components/schemas/Problem"}, name


def test_answer_of_the_api_is_the_document(service: Service):
    response = service.get("/v1/openapi.json")

    assert (response.status, response.headers["content-type"]) == (200, "application/json")
    assert as_sent(response) == json.loads(json.dumps(document()))
    assert service.get("/v1/openapi.json", version="2").status == 422


def loaded_after(*paths: str, setup: str = "") -> list[str]:
    code = f"""
import sys
from types import SimpleNamespace
from duetime.api.app import Api
from duetime.api.http import Request
store = SimpleNamespace(get=lambda ids: {{}})
clock = SimpleNamespace(now=lambda: 0)
ports = SimpleNamespace(clock=clock, store=store, limits=None, runs=None, pools={{}})
api = Api(ports, handlers=set, version="1")
{setup}
for path in {paths}:
    assert api.call(Request(method="GET", path=path)).status in (200, 404), path
print(*(name for name in sys.modules if name.startswith("duetime.api.openapi")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_other_calls_load_nothing_of_the_document():
    assert loaded_after("/v1/health", "/v1/tasks/x", "/v1/schedules/x") == []


def test_api_with_built_files_loads_only_what_serves_them(tmp_path: Any):
    (tmp_path / "openapi.json").write_text("{}")
    (tmp_path / "docs.html").write_text("<style></style>")
    setup = f"""
from pathlib import Path
from duetime.api.openapi import resource
resource.DOCUMENT_FILE = Path({str(tmp_path)!r}, "openapi.json")
resource.PAGE_FILE = Path({str(tmp_path)!r}, "docs.html")
"""
    loaded = loaded_after("/v1/openapi.json", "/docs", setup=setup)

    assert loaded == ["duetime.api.openapi", "duetime.api.openapi.resource"]


def test_filters_of_the_document_list_every_target_type():
    schemas = document()["components"]["schemas"]
    types = sorted(schemas["TaskInput"]["properties"]["target"]["discriminator"]["mapping"])
    [listed] = [
        parameter["schema"]["enum"]
        for parameter in document()["paths"]["/v1/tasks"]["get"]["parameters"]
        if parameter.get("name") == "target"
    ]
    assert sorted(listed) == types
    for body in ("BulkInput", "ShiftInput"):
        given, nothing = schemas[body]["properties"]["target"]["anyOf"]
        assert (sorted(given["enum"]), nothing) == (types, {"type": "null"})
