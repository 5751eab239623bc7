"""Workflow runs in a simulation: clients start, cancel and retry them, and answer callbacks."""

from collections import defaultdict
from random import Random
from typing import Any

from duetime.api.http import Response
from duetime.core.lifecycle import Status
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.core.workflows.run import Run, RunStatus
from tests.simulation import run_graphs
from tests.simulation.run_history import SETTLED
from tests.simulation.run_row_laws import RETRIES
from tests.simulation.schedule_workload import CALM
from tests.simulation.world import World

CLIENT_RETRY: Millis = 30 * SECOND  # after which a client without an answer repeats its request
TOO_EARLY: Millis = 2 * SECOND  # after which a callback that came too early is sent again
# The values to draw from. A mutant may limit them (see `run_mutant.aimed_runs`).
RUNS = [0, 0, 0, 5]  # in a world
CALM_SHARE = 0.3  # of the runs begins after the faults
CANCELLED = 0.2  # of the runs
CANCELLED_TWICE = 0.5  # of those
LOOK_EVERY: Millis = 3 * MINUTE  # an operator looks at failed runs and dead steps
RETRIED = 0.4  # of the failed runs, at each look
REDRIVEN = 0.1  # of the dead steps, at each look
ANSWERS = ["result"] * 5 + ["error", "late", "never", "twice"]


class RunWorkload:
    """Draws from a random source of its own, so that worlds without runs stay as they are."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._engine = world.engine
        self._random = random = Random(f"runs {world.seed}")
        self._laws = world.monitor.runs
        self.wanted = random.choice(RUNS)
        self._accepted: dict[int, str] = {}  # number → run or task id
        self._given_up: set[int] = set()
        self._defined = False
        self._tokens: dict[str, list[tuple[int, str]]] = defaultdict(list)  # by task

    def begin(self) -> None:
        if not self.wanted:
            return
        self._laws.lateness.begin()
        definition = run_graphs.draw_definition(self._random, run_graphs.NESTED_KINDS, most=3)
        self._define(definition)
        lasts = self._world.faults.lasts
        for number in range(self.wanted):
            body = run_graphs.draw_run(self._random)
            at = self._begins_at(lasts)
            as_task = self._random.random() < 0.1
            start = self._submit_task if as_task else self._submit
            self._engine.after(at, lambda n=number, b=body, s=start: s(n, b))
        self._engine.after(LOOK_EVERY, self._repair_some)

    def _begins_at(self, lasts: Millis) -> Millis:
        """Some runs begin when the faults are over: they are bound to go on at once."""
        if self._random.random() < CALM_SHARE:
            return lasts + SETTLED + self._random.randint(0, 2 * MINUTE)
        return self._random.randint(0, lasts * 2 // 3)

    @property
    def over(self) -> bool:
        """Whether every client has an answer, and every run is over and reported."""
        if not self.wanted:
            return True
        if not self._is_left_alone:
            return False
        answered = len(self._accepted.keys() | self._given_up) == self.wanted
        tasks = self._world.monitor.tasks.values()
        return answered and self._laws.over and not any(task.has_follow_up for task in tasks)

    @property
    def _is_left_alone(self) -> bool:
        """Whether the operator has stopped to look."""
        return self._world.age >= self._world.faults.lasts + CALM

    # clients

    def _define(self, body: dict[str, Any]) -> None:
        if self._defined:
            return

        def answered(answer: Response) -> None:
            self._defined = self._defined or answer.status in (200, 201)

        self._world.request("PUT", f"/v1/workflows/{run_graphs.NAMED}", body, answered)
        self._engine.after(CLIENT_RETRY, lambda: self._define(body))

    def _submit(self, number: int, body: dict[str, Any]) -> None:
        """Starts a run. The client repeats its request, with its key, until it has an answer."""
        self._post(number, "/v1/runs", body)

    def _submit_task(self, number: int, body: dict[str, Any]) -> None:
        """Submits a task that starts a workflow by its name."""
        target = {"type": "workflow", "workflow": run_graphs.NAMED, "input": body["input"]}
        self._post(number, "/v1/tasks", {"target": target})

    def _post(self, number: int, path: str, body: dict[str, Any]) -> None:
        if number in self._accepted or number in self._given_up:
            return

        def answered(answer: Response) -> None:
            if answer.status in (200, 201) and number not in self._accepted:
                self._accepted[number] = answer.body["id"]
                self._perhaps_cancel(f"{path}/{answer.body['id']}")
            elif answer.status not in (200, 201, 503):
                raise AssertionError(f"{answer.status}: {answer.body}")

        if self._defined:
            key = {"idempotency_key": f"run-{number}"}
            self._world.request("POST", path, {**body, **key}, answered)
        self._engine.after(CLIENT_RETRY, lambda: self._post(number, path, body))

    def _perhaps_cancel(self, path: str) -> None:
        if self._random.random() >= CANCELLED:
            return
        at = self._random.randint(0, 200 * SECOND)
        self._engine.after(at, lambda: self._world.request("DELETE", path))
        if self._random.random() < CANCELLED_TWICE:
            again = at + self._random.randint(0, 40 * SECOND)
            self._engine.after(again, lambda: self._world.request("DELETE", path))

    # operators

    def _repair_some(self) -> None:
        if self._is_left_alone:
            return
        self._engine.after(LOOK_EVERY, self._repair_some)
        monitor = self._world.monitor
        for task in list(monitor.tasks.values()):
            dead = task.spec.step is not None and task.status is Status.DEAD
            if dead and self._random.random() < REDRIVEN:
                monitor.asked.add(task.id)
                self._world.request("POST", f"/v1/tasks/{task.id}/retry", role="operator")
        for run in list(self._laws.history.rows.values()):
            failed = run.status is RunStatus.FAILED and run.spec.parent_task_id is None
            if failed and self._random.random() < RETRIED:
                self._retry(run)

    def _retry(self, run: Run) -> None:
        body = None
        failed = [n for n, state in enumerate(run.states) if state in "dc"]
        if failed and self._random.random() < 0.3:
            steps = self._laws.history.definition(run).steps
            body = {"steps": [steps[self._random.choice(failed)].name]}
        self._laws.retried.add(run.id)
        for _ in range(self._random.choice([1, 1, 2])):
            self._world.request("POST", f"/v1/runs/{run.id}/retry", body, role=RETRIES)

    # handlers of steps

    def played(self, task: Task) -> None:
        """Notes what a step was given. Its handler passes its callback on."""
        self._laws.given(task)
        token = task.spec.payload.get("token") if isinstance(task.spec.payload, dict) else None
        if token is None:
            return
        for attempt, earlier in self._tokens[task.id]:
            if attempt < task.attempt:
                self._call_back(task.id, attempt, earlier, {"result": "of an earlier attempt"})
        self._tokens[task.id].append((task.attempt, token))
        kind = self._random.choice(ANSWERS)
        if kind == "never":
            return
        wait = self._random.randint(0, 40 * SECOND) + (300 * SECOND if kind == "late" else 0)
        body = {"error": {"type": "Refused"}} if kind == "error" else {"result": {"pick": 1}}
        for _ in range(2 if kind == "twice" else 1):
            self._engine.after(wait, lambda: self._call_back(task.id, task.attempt, token, body))

    def _call_back(self, task_id: str, attempt: int, token: str, body: dict[str, Any]) -> None:
        def answered(answer: Response) -> None:
            if answer.status == 503:
                again = self._engine.now + TOO_EARLY
                self._engine.at(again, lambda: self._call_back(task_id, attempt, token, body))

        process = self._world.request(
            "POST", f"/v1/callbacks/{token}", body, answered, role="callback"
        )
        self._laws.steps.callbacks[process.name] = (task_id, attempt)
