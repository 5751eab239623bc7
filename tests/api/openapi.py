"""What the tests of the document share: its schemas, and a system that can run its examples."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import jsonschema_rs

from duetime.api.app import Api
from duetime.api.http import QueryValues, Request, Response
from duetime.api.live import LiveAccess
from duetime.api.openapi.document import EXAMPLE_ID, NAMES, ROUTES, make_document
from duetime.api.openapi.route import Route
from duetime.core.errors import PermanentError
from duetime.core.shares import DEFAULT_WEIGHTS
from duetime.core.task import LONGEST_TIMEOUT, Task
from duetime.engine.refusal import Refusal
from duetime.executor.remote_attempts import RemoteAttempts
from duetime.handlers.context import Context
from duetime.handlers.descriptions import describe_manifest
from duetime.handlers.manifest import Manifest
from duetime.local.live_tickets import MemoryTickets
from tests.factories import NOW, a_spec, a_task
from tests.workflows import settle
from tests.world import World, sqlite_world

HELLO = "duetime.hello"


@cache
def document() -> dict[str, Any]:
    return make_document()


def validator(schema: Mapping[str, Any]) -> Any:
    """A validator of a schema that may refer to the components of the document."""
    return _validator(json.dumps(schema))


@cache
def _validator(schema: str) -> Any:
    whole = {**json.loads(schema), "components": document()["components"]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def wrong_in(schema: Mapping[str, Any], body: Any) -> list[str]:
    """What of a body does not fit a schema."""
    errors = validator(schema).iter_errors(body)
    return [f"{'.'.join(map(str, e.instance_path))}: {e.message}" for e in errors]


def operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = document()["paths"][route.path][route.method.lower()]
    return found


def undocumented(route: Route, response: Response) -> list[str]:
    """What of an answer the document does not say about a route: status, media type or body."""
    answers = operation(route)["responses"]
    if str(response.status) not in answers:
        return [f"{response.status} is not among the answers: {response.encoded()!r}"]
    answer = answers[str(response.status)]
    if "$ref" in answer:
        answer = document()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    if "content" not in answer:
        return [] if response.encoded() == b"" else ["it has a body"]
    media_type = response.headers["content-type"].partition(";")[0]
    if media_type not in answer["content"]:
        return [f"{media_type} is not among its media types"]
    if not media_type.endswith("json"):
        return []
    return wrong_in(answer["content"][media_type]["schema"], json.loads(response.encoded()))


MANIFEST = Manifest(
    app="shop",
    handlers={HELLO: {"source": "shop.py:12"}},
    schedules=[{"name": "daily", "rule": {}, "task": {"target": {"handler": HELLO}}}],
)
POOL = "gpu"
CROWDED = 12  # tasks in a minute, before a submission gets a hint


class ExampleWorkers(RemoteAttempts):
    """HTTP workers, one of which runs a task with the id of the examples."""

    def parent(self, worker: str, task_id: str, holder: str) -> Task | Refusal:
        if task_id == EXAMPLE_ID:
            return a_task(id=task_id, spec=a_spec(run_at=NOW))
        return super().parent(worker, task_id, holder)


class System:
    """The API and the executor over a store in memory, with a stepped clock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stats = world.store.port.stats()
        self.workers = ExampleWorkers(world.ports, world.lanes.port, DEFAULT_WEIGHTS)
        self.api = Api(
            replace(world.ports, stats=self.stats, pools={POOL: LONGEST_TIMEOUT}),
            handlers=lambda: {HELLO},
            version="9.9.9",
            secrets=lambda: {"shop"},
            crowded_minute=CROWDED,
            callbacks=True,
            live=LiveAccess(tickets=MemoryTickets(), address=lambda _: "ws://127.0.0.1/v1/live"),
            described=lambda: describe_manifest(MANIFEST),
            workers=self.workers,
            worker_calls=self.workers,
        )

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: QueryValues | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        data = b"" if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        request = Request(method=method, path=path, query=query or {}, headers=sent, body=data)
        return self.api.call(request)

    def body(self, *arguments: Any, **more: Any) -> Any:
        """The body of a successful answer."""
        response = self.call(*arguments, **more)
        assert response.status < 300, response.body
        return json.loads(response.encoded())

    def send(self, route: Route, task_id: str = "", token: str = "") -> Response:
        """Sends the example of a route."""
        path = route.path.replace("{id}", task_id).replace("{token}", token)
        if "{name}" in path:
            path = path.replace("{name}", NAMES[path.split("/")[2]]["example"])
        return self.call(route.method, path, route.example.body, route.example.query)

    def send_after(self, route: Route) -> Response:
        """Sends the examples that a route needs, and then its own."""
        found = ""
        for name in route.example.after:
            before = self.send(by_operation(name), found)
            assert before.status < 300, before.body
            found = found or json.loads(before.encoded()).get("id", "")
        if route.example.dead:
            self.fail_run(found) if "/runs/" in route.path else self.kill(found)
        if route.example.waiting:
            return self.send_waiting(route, found)
        if route.example.succeeded:
            self.world.script = lambda task, ctx: "done"
            self.run(found)
            assert self.world.status(found) == "SUCCEEDED"
        return self.send(route, found)

    def send_waiting(self, route: Route, run_id: str) -> Response:
        """Sends the example of a route about a run that waits for a callback, or about the task of
        its step."""
        payloads: list[Any] = []
        script = self.world.script

        def remember(task: Any, ctx: Context) -> Any:
            payloads.append(task.spec.payload)
            return script(task, ctx)

        self.world.script = remember
        settle(self.world)
        steps = {step["name"]: step for step in self.body("GET", f"/v1/runs/{run_id}")["steps"]}
        task = self.world.task(steps["approve"]["task_id"])
        assert task.status == "WAITING"
        found = task.id if "/tasks/" in route.path else run_id
        return self.send(route, found, str(payloads[-1]["name"]).rpartition("/")[2])

    def fail_run(self, run_id: str) -> None:
        self.world.script = _fail
        settle(self.world)
        assert self.body("GET", f"/v1/runs/{run_id}")["status"] == "FAILED"

    def run(self, task_id: str) -> None:
        self.world.advance_to(self.world.task(task_id).due_at)
        self.world.tick()
        self.world.deliver()

    def kill(self, task_id: str) -> None:
        self.world.script = _fail
        self.run(task_id)
        assert self.world.status(task_id) == "DEAD"


def _fail(task: Any, ctx: Context) -> Any:
    raise PermanentError("it must fail")


def by_operation(name: str) -> Route:
    [found] = [route for route in ROUTES if route.operation == name]
    return found


@contextmanager
def a_system() -> Iterator[System]:
    with sqlite_world() as world:
        yield System(world)
