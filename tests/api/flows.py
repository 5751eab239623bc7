"""The API with executors behind it, for the tests of workflows and runs."""

import json
from collections.abc import Mapping
from typing import Any

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.errors import PermanentError
from duetime.engine.quotas import QuotaGate
from tests.workflows import settle
from tests.world import World

HANDLER = "etl.step"
TARGET = {"type": "python", "handler": HANDLER}
BROKEN = PermanentError("broken")


def a_step(name: str, *needs: str, **fields: Any) -> dict[str, Any]:
    """Its payload is its name, so that a script knows it."""
    kind = {} if {"workflow", "wait"} & fields.keys() else {"target": TARGET, "payload": name}
    return {"name": name, "needs": list(needs), **kind, **fields}


class Flows:
    def __init__(
        self, world: World, *, callbacks: bool = True, quotas: QuotaGate | None = None
    ) -> None:
        self.world = world
        self.api = Api(
            world.ports,
            handlers=lambda: {HANDLER},
            version="9.9.9",
            callbacks=callbacks,
            quotas=quotas,
        )
        self.outcomes: dict[str, Any] = {}  # of the step with this payload; an error is raised
        self.started: list[Any] = []
        world.script = self._run

    def _run(self, task: Any, ctx: Any) -> Any:
        payload = task.spec.payload
        self.started.append(payload)
        outcome = self.outcomes.get(payload) if isinstance(payload, str) else None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        **headers: str,
    ) -> Response:
        sent = {"content-type": "application/json", **headers}
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body)
        data = data.encode() if isinstance(data, str) else data
        request = Request(method=method, path=path, query=query or {}, headers=sent, body=data)
        return self.api.call(request)

    def put(self, name: str, *steps: Any, query: Mapping[str, str] | None = None, **more: Any):
        return self.call("PUT", f"/v1/workflows/{name}", {"steps": steps, **more}, query)

    def start(self, *steps: Any, key: str | None = None, **fields: Any) -> Response:
        headers = {"idempotency-key": key} if key else {}
        body = {"steps": steps, **fields} if steps else fields
        return self.call("POST", "/v1/runs", body, **headers)

    def run(self, *steps: Any, **fields: Any) -> str:
        """Starts a run, and returns its id."""
        started = self.start(*steps, **fields)
        assert started.status == 201, started.body
        return str(started.body["id"])

    def read(self, run_id: str) -> dict[str, Any]:
        response = self.call("GET", f"/v1/runs/{run_id}")
        assert response.status == 200, response.body
        return dict(json.loads(response.encoded()))

    def step(self, run_id: str, name: str) -> dict[str, Any]:
        [found] = [step for step in self.read(run_id)["steps"] if step["name"] == name]
        return dict(found)

    def statuses(self, run_id: str) -> dict[str, str]:
        return {step["name"]: step["status"] for step in self.read(run_id)["steps"]}

    def settle(self) -> None:
        settle(self.world)


def errors(response: Response) -> dict[str, str]:
    assert response.status in (409, 422), response.body
    return {error["field"]: error["message"] for error in response.body["errors"]}
