"""Plays a scenario of one workflow run: the API, executors, relay and scanners act, and one is cut.

The executor that records the end of a step runs its follow-up. If it is cut, the relay does, and
without a relay the scanner. A scenario is played both with a relay and without one.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.codec import to_json
from duetime.core.errors import PermanentError
from duetime.core.lifecycle import Status
from duetime.core.ports import Ports
from duetime.core.step_ref import StepRef
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.workflows.run import Run, RunStatus
from duetime.engine.workflows import definitions
from duetime.executor.run_control import RunControl
from tests.cuts.backends import Backend
from tests.cuts.cut_points import Cutter
from tests.cuts.scenario_player import Effect, ScenarioPlayer
from tests.follow_ups import run_follow_ups_by_id

RELAY = "relay"
HANDLER = "etl.step"
RETRY = {"max_attempts": 3, "base_delay": 1, "multiplier": 1, "jitter": 0}
USERS = ("start", "retry", "cancel", "revive", "callback", "put")
SENT = (Status.ENQUEUED, Status.RUNNING, Status.RETRYING)
LIVE = (Status.PENDING, Status.ENQUEUED, Status.RUNNING, Status.RETRYING)


class RunPlayer(ScenarioPlayer):
    """`failing` are the names of steps whose handlers raise until they are mended. `relays` is
    whether the stream of the table works."""

    def __init__(
        self, backend: Backend, cutter: Cutter, failing: frozenset[str], *, relays: bool
    ) -> None:
        super().__init__(backend, cutter, frozenset())
        self.failing = set(failing)
        self.run_id = ""
        self.schedule_id = ""
        self.ran: list[tuple[str, Any]] = []  # the steps that ran, with their payloads
        self.most_items = 0  # items of maps that were live at once
        self.left_to_watches = False  # what was cut, so that neither message nor relay goes on
        self._relays = relays
        self._relayed: list[str] = []

    # users

    def start(self, *steps: Any, **fields: Any) -> None:
        body = {"steps": list(steps), "idempotency_key": "one", **fields}
        started = self.ask("start", "POST", "/v1/runs", body)
        self.run_id = started.body["id"]

    def put_workflow(self, name: str, *steps: Any) -> None:
        self.ask("put", "PUT", f"/v1/workflows/{name}", {"steps": list(steps)})

    def schedule(self, workflow: str) -> None:
        """Starts the workflow in a minute, once. A start that a cut delays is no misfire."""
        body = {
            "rule": {"type": "rate", "every": 60},
            "max_runs": 1,
            "misfire": {"grace": 3600},
            "task": {"target": {"type": "workflow", "workflow": workflow}, "retry": RETRY},
        }
        with self.cutter.paused():
            self.schedule_id = self.ask("schedule", "POST", "/v1/schedules", body).body["id"]

    def retry(self) -> None:
        self.ask("retry", "POST", f"/v1/runs/{self.run_id}/retry")

    def cancel_run(self) -> None:
        """Is not repeated if the run is being cancelled: that would stop its `finally` step."""
        path = f"/v1/runs/{self.run_id}"
        request = Request(method="DELETE", path=path)
        if self._act("cancel", lambda ports: _api(ports).call(request)) is None:
            self.world.advance(SECOND)
            if self.view()["status"] == "RUNNING":
                self.ask("cancel", "DELETE", path)

    def revive_step(self, name: str) -> None:
        task_id = self.step(name)["task_id"]
        self.ask("revive", "POST", f"/v1/tasks/{task_id}/retry")

    def call_back(self, step: str, result: Any) -> None:
        """Sends the token that the last attempt of a step was given."""
        tokens = [payload["token"] for name, payload in self.ran if name == step]
        self.ask("callback", "POST", f"/v1/callbacks/{tokens[-1]}", {"result": result})

    def ask(self, actor: str, method: str, path: str, fields: Any = None) -> Response:
        """Makes a request, and repeats it if it was cut: the first may have been made."""
        body = b"" if fields is None else to_json(fields).encode()
        headers = {"content-type": "application/json"}
        request = Request(method=method, path=path, headers=headers, body=body)
        cut_before = self.cut_actor
        response = self._retry_if_cut(actor, lambda ports: _api(ports).call(request))
        made = (200, 201, 202) if self.cut_actor == cut_before else (200, 201, 202, 409)
        assert response.status in made, response.body
        return response

    def view(self) -> dict[str, Any]:
        """Returns the run as users see it."""
        path = f"/v1/runs/{self.run_id}"
        with self.cutter.paused():
            response = _api(self.world.ports).call(Request(method="GET", path=path))
        assert response.status == 200, response.body
        return dict(response.body)

    def step(self, name: str) -> dict[str, Any]:
        [found] = [step for step in self.view()["steps"] if step["name"] == name]
        return dict(found)

    def is_over(self, *statuses: str) -> Callable[[], bool]:
        return lambda: self.view()["status"] in statuses

    def has_run(self, name: str) -> Callable[[], bool]:
        return lambda: name in [ran for ran, _ in self.ran]

    # time and roles

    def tasks(self) -> list[Task]:
        found: dict[str, Task] = self.world.store.get(self.backend.ids("task"))
        return [found[task_id] for task_id in sorted(found)]

    def runs(self) -> list[Run]:
        found: dict[str, Run] = self.world.runs.get(self.backend.ids("run"))
        return [found[run_id] for run_id in sorted(found)]

    def next_wake(self) -> Millis | None:
        found = self.world.schedules.get([self.schedule_id]) if self.schedule_id else {}
        wakes = [row.wake.at for row in (*self.runs(), *found.values()) if row.wake]
        times = [super().next_wake(), *wakes]
        return min((at for at in times if at is not None), default=None)

    def _step(self) -> bool:
        """Runs the relay first: it comes within a second of the end of a task."""
        ended = [task.id for task in self.tasks() if task.has_follow_up] if self._relays else []
        if ended and ended != self._relayed:
            self._relayed = ended
            self._act(RELAY, lambda ports: run_follow_ups_by_id(ports, ended))
            return True
        return super()._step()

    def _ports(self, actor: str) -> Ports:
        """Each actor is a new process, which has read no definition yet."""
        definitions._kept.clear()
        return super()._ports(actor)

    def _try(self, actor: str, action: Callable[[], Any]) -> Any:
        cut_before = self.cut_actor
        done = super()._try(actor, action)
        if self.cut_actor != cut_before:
            self.left_to_watches = actor in USERS or self._is_left_to_watches()
        return done

    def _is_left_to_watches(self) -> bool:
        """Whether something can go on only at a watch: a task without a message, a task that waits
        for a run that is not there yet, or a run that was just created, retried or stopped."""
        sent, runs, tasks = self.backend.sent_to(), self.runs(), self.tasks()
        attempts = {run.id: run.attempt for run in runs}
        waits = [task.suspended for task in tasks if task.suspended]
        new = [run for run in runs if run.revision == 1 or run.spec.parent_task_id]
        return (
            any(task.status in SENT and task.id not in sent for task in tasks)
            or any(attempts.get(wait.id, 0) < wait.run_attempt for wait in waits)
            or any(run.status is RunStatus.CANCELLING for run in runs)
            or any("p" in run.states and not self._has_tasks(run, tasks) for run in new)
        )

    def _has_tasks(self, run: Run, tasks: list[Task]) -> bool:
        found = [task for task in tasks if task.spec.step and task.spec.step.run_id == run.id]
        return len(found) >= len(run.states) - run.states.count("w") - run.states.count("x")

    def _run(self, task: Task, control: RunControl) -> Any:
        ref, payload = task.spec.step, task.spec.payload
        assert ref is not None
        name = name_of(ref)
        self.ran.append((name, payload))
        self.effects.append(
            Effect(
                task_id=task.id,
                attempt=task.attempt,
                at=self.world.clock.now(),
                due_at=task.due_at,
                payload=payload,
            )
        )
        if ref.index is not None:
            self.most_items = max(self.most_items, self._live_items())
        if name in self.failing:
            raise PermanentError("broken")
        return f"{name} done"

    def _live_items(self) -> int:
        """Returns the most items of one map that are live."""
        steps = [(task.spec.step, task.status) for task in self.tasks()]
        live = [
            ref.run_id for ref, status in steps if ref and ref.index is not None if status in LIVE
        ]
        return max(Counter(live).values())


def name_of(ref: StepRef) -> str:
    return ref.step if ref.index is None else f"{ref.step}[{ref.index}]"


def _api(ports: Ports) -> Api:
    return Api(ports, handlers=lambda: {HANDLER}, version="0", callbacks=True)
