"""The demo tasks, and the handlers that they and the suggested commands use."""

from typing import Any

from duetime import Context, task
from duetime.api.http import Request
from duetime.core.codec import to_json
from duetime.local.asgi import Call

NAMESPACE = "demo"

TASKS: list[dict[str, Any]] = [
    {"name": "runs at once", "target": {"type": "python", "handler": "duetime.hello"}},
    {
        "name": "runs two seconds later",
        "delay": 2,
        "target": {"type": "python", "handler": "duetime.hello"},
    },
    {
        "name": "fails once, then succeeds",
        "delay": 1,
        "target": {"type": "python", "handler": "duetime.flaky"},
    },
]


@task("duetime.hello")
def hello(payload: Any, _: Context) -> str:
    name = payload.get("name", "world") if isinstance(payload, dict) else "world"
    return f"Hello, {name}!"


@task("duetime.flaky")
def flaky(_: Any, ctx: Context) -> str:
    if ctx.attempt == 1:
        raise ConnectionError("the first attempt always fails")
    return f"done at attempt {ctx.attempt}"


def submit_demo(call: Call) -> None:
    tasks = [{**body, "namespace": NAMESPACE} for body in TASKS]
    body = to_json({"tasks": tasks}).encode()
    headers = {"content-type": "application/json"}
    call(Request(method="POST", path="/v1/tasks/batch", headers=headers, body=body))
