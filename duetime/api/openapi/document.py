"""Makes the OpenAPI 3.1 document from the routes and the models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from duetime.api.access import right_of
from duetime.api.openapi import (
    bulk_routes,
    dead_letter_routes,
    declared_routes,
    limit_routes,
    run_routes,
    schedule_routes,
    stats_routes,
    system_routes,
    task_routes,
    worker_routes,
    workflow_routes,
)
from duetime.api.openapi.answers import GatewayMessage, Problem, Task
from duetime.api.openapi.route import JSON, Answer, Parameter, Route
from duetime.api.openapi.schedule_answers import Schedule
from duetime.api.openapi.schemas import make_schemas, ref_to
from duetime.version import VERSION

ROUTES: Sequence[Route] = (
    *task_routes.ROUTES,
    *bulk_routes.ROUTES,
    *dead_letter_routes.ROUTES,
    *schedule_routes.ROUTES,
    *declared_routes.ROUTES,
    *limit_routes.ROUTES,
    *workflow_routes.ROUTES,
    *run_routes.ROUTES,
    *worker_routes.ROUTES,
    *stats_routes.ROUTES,
    *system_routes.ROUTES,
)

PROBLEM = "application/problem+json"
EXAMPLE_ID = "01KA5V8Y3M0000000000000001"
RETRY_AFTER = {
    "description": "Seconds to wait before you send the request again.",
    "schema": {"type": "integer"},
}

_TAGS: Mapping[str, str] = {
    task_routes.TASKS: "Submit work, follow it, change it, stop it.",
    dead_letter_routes.DEAD_LETTERS: "Tasks that are out of attempts or failed for good.",
    schedule_routes.SCHEDULES: "Rules that create a task at every fire time.",
    workflow_routes.WORKFLOWS: "Graphs of steps, in versions.",
    run_routes.RUNS: "Executions of workflows.",
    limit_routes.LIMITS: "How fast, and how many at once, tasks may start.",
    worker_routes.WORKERS: "Processes that run handlers elsewhere, and the calls that they make.",
    system_routes.SYSTEM: "Duetime itself.",
}

NAMES: Mapping[str, Mapping[str, Any]] = {  # parameters of paths, by resource
    "schedules": {
        "description": "The name of the schedule, percent-encoded.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 256},
        "example": "daily-report",
    },
    "limits": {
        "description": "The name of the limit.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
        "example": "stripe",
    },
    "workflows": {
        "description": "The name of the workflow.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
        "example": "etl",
    },
    "runs": {
        "description": "The name of the step.",
        "schema": {"type": "string", "pattern": "^[a-z0-9_-]{1,64}$"},
        "example": "resize",
    },
}
_TOKEN: Mapping[str, Any] = {
    "name": "token",
    "in": "path",
    "required": True,
    "description": "The token that the step was given as `{{callback.token}}`.",
    "schema": {"type": "string"},
    "example": f"{EXAMPLE_ID}{'0' * 32}",
}

_ITEMS: Mapping[type[BaseModel], str] = {Task: "/v1/tasks/{id}", Schedule: "/v1/schedules/{id}"}

DESCRIPTION = """Duetime runs work when it is due.

Requests and answers are JSON. Times are RFC 3339 with an offset, kept to the millisecond; durations
are numbers of seconds. Unknown fields and parameters are errors; an empty parameter counts as none.
Every error is a `Problem`.

Every list takes `limit` and `cursor` and returns `items` and `next_cursor`. Filters apply while
reading, so a page may be short: only a null `next_cursor` ends a list.

Answers over 1 KB are compressed if you send `Accept-Encoding: gzip`. You may compress a body with
`Content-Encoding: gzip`. `HEAD` works everywhere `GET` does.

The local runner asks for no authorization, or with `--token` for that token. A deployed API asks
for an AWS signature (SigV4), or for a JWT if it is set up so. `x-duetime-right` is the right that a
call needs. With `Duetime-Reason`, up to 256 characters that are percent-encoded where they are not
ASCII, the log of the API says why an action was made."""

# What every call may answer, what a call with a body may, and what a call with an id may.
OF_EVERY_CALL = (401, 403, 422, 429, 500, 503)
WITH_BODY = (400, 413, 415)
WITH_ID = (404,)

_PROBLEMS: Mapping[int, tuple[str, str]] = {
    400: ("Malformed", "The body is not JSON, or not gzip although it is sent as such."),
    404: (
        "NotFound",
        "There is no such task, schedule, workflow, run or limit, or no such part of it.",
    ),
    409: (
        "Conflict",
        "The state of the task, schedule, run or limit forbids it, or the id or key belongs to"
        " another.",
    ),
    413: ("TooLarge", "The body or a part of it is too large. Nothing is stored."),
    415: (
        "UnsupportedMediaType",
        "The body is not sent as `application/json`, or compressed with anything but gzip.",
    ),
    422: ("Invalid", "A field or parameter is not valid: `errors` names each. Nothing is stored."),
    500: ("InternalError", "A fault of Duetime's own."),
    503: ("Unavailable", "The store did not answer. Send the request again."),
}
_GATEWAY: Mapping[int, tuple[str, str]] = {
    401: (
        "Unauthorized",
        "Deployed: the caller is unknown. Local, with `--token`: the request lacks the token.",
    ),
    403: (
        "Forbidden",
        "The caller lacks the right that `x-duetime-right` names. Local: or the request comes from"
        " a page of another site.",
    ),
    429: (
        "Throttled",
        "Deployed: too many requests. A submission: its namespace is over a quota, and nothing is"
        " stored.",
    ),
}


def make_document() -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Duetime",
            "version": VERSION,
            "description": DESCRIPTION,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {"url": "/", "description": "where this document comes from"},
            {"url": "http://127.0.0.1:8080", "description": "`duetime local`"},
        ],
        "security": [{}, {"sigv4": []}, {"jwt": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": _paths(ROUTES),
        "components": {
            "schemas": make_schemas(list(_models(ROUTES))),
            "responses": {**_problem_responses(), **_gateway_responses()},
            "securitySchemes": _security_schemes(),
        },
    }


def _models(routes: Sequence[Route]) -> Iterator[type[BaseModel]]:
    yield from (Problem, GatewayMessage)
    for route in routes:
        yield from [route.body] if route.body else []
        yield from (answer.model for answer in route.answers if answer.model)


def _paths(routes: Sequence[Route]) -> dict[str, dict[str, Any]]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.operation,
        "tags": [route.tag],
        "summary": route.summary,
    }
    if route.text:
        operation["description"] = route.text
    if parameters := list(_parameters(route)):
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = _request_body(route, route.body)
    answers = {str(answer.status): _answer(answer) for answer in route.answers}
    if right := right_of(route.method, route.path):
        operation["x-duetime-right"] = right.value
    refused = {str(status): _problem_ref(status) for status in _problems(route)}
    operation["responses"] = answers | refused
    return operation


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    if "{id}" in route.path:
        yield {
            "name": "id",
            "in": "path",
            "required": True,
            "description": f"The id of the {route.path.split('/')[2].removesuffix('s')}.",
            "schema": {"type": "string"},
            "example": EXAMPLE_ID,
        }
    if "{name}" in route.path:
        yield {
            "name": "name",
            "in": "path",
            "required": True,
            **NAMES[route.path.split("/")[2]],
        }
    if "{token}" in route.path:
        yield dict(_TOKEN)
    for parameter in route.parameters:
        yield _parameter(parameter, route.example.query.get(parameter.name))


def _parameter(parameter: Parameter, example: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": parameter.name,
        "in": "header" if parameter.header else "query",
        "required": False,
        "description": parameter.text,
        "schema": dict(parameter.schema),
    }
    if not parameter.header:
        shown["allowEmptyValue"] = True  # `?status=` counts as no status
    if example is not None:
        is_number = parameter.schema.get("type") == "integer"
        shown["example"] = int(example) if is_number else example
    return shown


def _request_body(route: Route, model: type[BaseModel]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": ref_to(model)}
    if route.example.body is not None:
        content["example"] = route.example.body
    return {"required": not route.body_optional, "content": {JSON: content}}


def _answer(answer: Answer) -> dict[str, Any]:
    shown: dict[str, Any] = {"description": answer.text}
    if answer.headers:
        shown["headers"] = {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in answer.headers.items()
        }
    schema = ref_to(answer.model) if answer.model else answer.schema
    if schema is not None:
        shown["content"] = {answer.media_type: {"schema": dict(schema)}}
    if links := _links(answer):
        shown["links"] = links
    return shown


def _links(answer: Answer) -> dict[str, Any]:
    """Returns what can be called with the id of what was just stored."""
    item = _ITEMS.get(answer.model) if answer.model else None
    if answer.status != 201 or item is None:
        return {}
    return {
        route.operation: {
            "operationId": route.operation,
            "parameters": {"id": "$response.body#/id"},
        }
        for route in ROUTES
        if route.path == item or route.path.startswith(f"{item}/")
    }


def _problems(route: Route) -> list[int]:
    with_body = WITH_BODY if route.body else ()
    with_id = WITH_ID if "{id}" in route.path else ()
    return sorted({*OF_EVERY_CALL, *with_body, *with_id, *route.problems})


def _problem_ref(status: int) -> dict[str, str]:
    name, _ = _PROBLEMS.get(status) or _GATEWAY[status]
    return {"$ref": f"#/components/responses/{name}"}


def _problem_responses() -> dict[str, Any]:
    responses: dict[str, Any] = {
        name: {"description": text, "content": {PROBLEM: {"schema": ref_to(Problem)}}}
        for name, text in _PROBLEMS.values()
    }
    responses["Unavailable"]["headers"] = {"Retry-After": RETRY_AFTER}
    return responses


def _gateway_responses() -> dict[str, Any]:
    message = {JSON: {"schema": ref_to(GatewayMessage)}}
    responses: dict[str, Any] = {
        name: {"description": text, "content": message} for name, text in _GATEWAY.values()
    }
    for name in ("Unauthorized", "Forbidden", "Throttled"):
        responses[name]["content"] = message | {PROBLEM: {"schema": ref_to(Problem)}}
    responses["Throttled"]["headers"] = {"Retry-After": RETRY_AFTER}
    return responses


def _security_schemes() -> dict[str, Any]:
    return {
        "sigv4": {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "A deployed API: AWS Signature Version 4, service `execute-api`.",
            "x-amazon-apigateway-authtype": "awsSigv4",
        },
        "jwt": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A deployed API with a JWT authorizer, or a runner with a token.",
        },
    }
