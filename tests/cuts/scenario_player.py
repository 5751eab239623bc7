"""Plays a scenario: users, scanners and executors act, each in a new process, and one is cut.

Time is not scripted. The player advances the clock to the next visible message or wake, and runs
the executor or the scanner there. So a scenario goes on by itself after a cut.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.core.change import Applied
from duetime.core.codec import to_json
from duetime.core.delivery import MIN_REDRIVE_AGE
from duetime.core.lifecycle import Status
from duetime.core.ports import ObjectStore, Ports
from duetime.core.steps.lease import can_start
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.wakes import WakeKind
from duetime.engine.submission import Submission, Submitted, TaskRequest, enqueue_due
from duetime.executor.new_tasks import NewTasks
from duetime.executor.run_control import RunControl
from duetime.scanner.scanner import Scanner
from tests.cuts.backends import Backend
from tests.cuts.cut_points import Cut, CutPort, Cutter
from tests.cuts.executor_session import ExecutorSession
from tests.factories import a_spec
from tests.world import WAKE_POLICY

T = TypeVar("T")

MAX_STEPS = 100  # a scenario that takes more does not end
EXECUTOR = "executor"
NO_QUERY: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One run of a task's target: when it ran, and when it was due."""

    task_id: str
    attempt: int
    at: Millis
    due_at: Millis
    payload: Any = None


class ScenarioPlayer:
    def __init__(self, backend: Backend, cutter: Cutter, fails: frozenset[int]) -> None:
        self.backend = backend
        self.world = backend.world
        self.world.chance.luck = 0
        self.cutter = cutter
        self.ids: list[str] = []
        self.effects: list[Effect] = []
        self.cut_actor: str | None = None
        self.objects: ObjectStore | None = None
        self._fails = fails
        self._session: ExecutorSession | None = None

    # users: a request that was cut is repeated

    def submit(self, tasks: int, due_in: Millis = 0, **fields: Any) -> None:
        now = self.world.clock.now()
        if "expires_in" in fields:
            fields["expires_at"] = now + fields.pop("expires_in")
        specs = [
            a_spec(run_at=now + due_in, idempotency_key=f"key-{number}", **fields)
            for number in range(tasks)
        ]
        wanted = [TaskRequest(spec=spec, body_hash=spec.idempotency_key) for spec in specs]
        submitted = self._retry_if_cut("submit", lambda ports: Submission(ports).submit(wanted))
        self.ids = [done.task.id for done in submitted if isinstance(done, Submitted)]

    def submit_and_start(self, tasks: int, **fields: Any) -> None:
        """The first task starts with its submission, in the process of an executor. If that is cut,
        the client submits them once more."""
        now = self.world.clock.now()
        self.ids = [self.world.chance.new_id(now) for _ in range(tasks)]
        wanted = [
            TaskRequest(spec=a_spec(run_at=now, **fields), body_hash=task_id, id=task_id)
            for task_id in self.ids
        ]
        self._session = self._act(EXECUTOR, lambda ports: self._start_first(ports, wanted))
        if self._session is None:
            self.world.advance(SECOND)
            Submission(self._ports("submit")).submit(wanted)

    def _start_first(self, ports: Ports, wanted: Sequence[TaskRequest]) -> ExecutorSession:
        now, draws = self.world.clock.now(), ports.chance.draws(len(wanted))
        tasks = [
            request.task(WAKE_POLICY, task_id, now, draw)
            for request, task_id, draw in zip(wanted, self.ids, draws, strict=True)
        ]
        assert all(can_start(task, now) for task in tasks)
        new = NewTasks(tasks, lambda leased: lambda: _put_all(ports, [*leased, *tasks[1:]]))
        new.slots = 1
        session = self._new_session(ports).store(new)
        assert (new.stored, new.started) == (True, 1)
        enqueue_due(ports, tasks[1:])
        return session

    def cancel(self) -> None:
        self._ask("cancel", "DELETE", "/v1/tasks/{}")

    def change(self, **fields: Any) -> None:
        self._ask("change", "PATCH", "/v1/tasks/{}", fields)

    def run_now(self) -> None:
        self._ask("run", "POST", "/v1/tasks/{}/run")

    def revive(self) -> None:
        self._ask("revive", "POST", "/v1/tasks/{}/retry")

    def bulk_cancel(self) -> None:
        self._ask_once("cancel", "POST", "/v1/tasks/cancel", {"handler": "reports.daily"})

    def shift(self, by: Millis) -> None:
        fields = {"handler": "reports.daily", "by": by / SECOND, "idempotency_key": "shift"}
        self._ask_once("shift", "POST", "/v1/tasks/shift", fields)

    def discard(self) -> None:
        self._ask_once("discard", "DELETE", "/v1/dead-letters", query={"all": "true"})

    def take_letters(self) -> None:
        dead = [task.id for task in self.tasks() if task.status is Status.DEAD]
        self.backend.take_letters(dead)

    def redrive(self, copies: int = 1) -> None:
        """Moves the dead letters back to their lane, perhaps more than once."""
        self.world.advance(MIN_REDRIVE_AGE + SECOND)
        for _ in range(copies):
            self.backend.redrive()

    # time

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        for _ in range(MAX_STEPS):
            if until() or not self._step():
                return
        raise AssertionError(f"the scenario does not end within {MAX_STEPS} steps")

    def all_are(self, status: Status) -> Callable[[], bool]:
        return lambda: all(task.status is status for task in self.tasks())

    def run_to_rest(self) -> None:
        """Runs until nothing is left to do, without a cut."""
        with self.cutter.paused():
            self.run()

    def tick(self) -> None:
        cursors: Any = CutPort(self.world.cursors, self.cutter)
        self._act("scanner", lambda ports: Scanner(ports, cursors).tick())

    def execute(self) -> None:
        self.begin()
        self.finish()

    def begin(self) -> None:
        self._session = self._act(EXECUTOR, lambda ports: self._new_session(ports).begin())

    def renew(self) -> None:
        self._continue_session(ExecutorSession.renew)

    def drain(self) -> None:
        self._continue_session(ExecutorSession.drain)

    def finish(self) -> None:
        self._continue_session(ExecutorSession.finish)

    def _continue_session(self, step: Callable[[ExecutorSession], None]) -> None:
        """Continues the executor's session, unless the executor was cut."""
        if (session := self._session) is not None:
            self._try(EXECUTOR, lambda: step(session))

    def _new_session(self, ports: Ports) -> ExecutorSession:
        return ExecutorSession(ports, self.world, self._run)

    def _step(self) -> bool:
        """Advances to the next message or wake and acts on it; False if there is none."""
        message = self.backend.next_message()
        if message is not None and message <= self.world.clock.now():
            self.execute()
            return True
        wake = self.next_wake()
        moments = [at for at in (message, wake) if at is not None]
        if moments:
            self.world.advance_to(min(moments))
            self.execute() if message == min(moments) else self.tick()
        return bool(moments)

    def next_wake(self) -> Millis | None:
        wakes = [task.wake for task in self.tasks() if task.wake is not None]
        ahead = {WakeKind.DISPATCH: WAKE_POLICY.horizon, WakeKind.WATCH: 0}
        return min((wake.at - ahead[wake.kind] for wake in wakes), default=None)

    def tasks(self) -> list[Task]:
        found: dict[str, Task] = self.world.store.get(self.ids)
        return list(found.values())

    # actors

    def _ask(self, actor: str, method: str, path: str, fields: Any = None) -> None:
        """Makes a request for each task. A repeated one may find that the first was made."""
        body = b"" if fields is None else to_json(fields).encode()
        headers = {"content-type": "application/json"}
        for task_id in self.ids:
            request = Request(method=method, path=path.format(task_id), headers=headers, body=body)
            cut_before = self.cut_actor
            response = self._retry_if_cut(
                actor, lambda ports, asked=request: _api(ports).call(asked)
            )
            repeated = self.cut_actor != cut_before
            assert response.status in ((200, 202, 409) if repeated else (200, 202))

    def _ask_once(
        self,
        actor: str,
        method: str,
        path: str,
        fields: Any = None,
        query: Mapping[str, str] = NO_QUERY,
    ) -> None:
        """Makes one request for all tasks, which may be repeated as a whole."""
        body = b"" if fields is None else to_json(fields).encode()
        headers = {"content-type": "application/json"}
        request = Request(method=method, path=path, query=query, headers=headers, body=body)
        response = self._retry_if_cut(actor, lambda ports: _api(ports).call(request))
        assert (response.status, response.body["not_changed"]) == (200, [])

    def _retry_if_cut(self, actor: str, action: Callable[[Ports], T]) -> T:
        done = self._act(actor, action)
        if done is not None:
            return done
        self.world.advance(SECOND)
        return action(self._ports(actor))

    def _act(self, actor: str, action: Callable[[Ports], T]) -> T | None:
        ports = self._ports(actor)
        return self._try(actor, lambda: action(ports))

    def _try(self, actor: str, action: Callable[[], T]) -> T | None:
        """Returns None if the actor was cut: what it held in memory is gone."""
        try:
            return action()
        except Cut:
            self.cut_actor = actor
            if actor == EXECUTOR or self.backend.restarts:
                self._session = None
            self.backend.after_cut()
            return None

    def _ports(self, actor: str) -> Ports:
        self.cutter.next_actor(actor)
        store: Any = CutPort(self.world.store, self.cutter)
        schedules: Any = CutPort(self.world.schedules, self.cutter)
        lanes: Any = CutPort(self.world.lanes, self.cutter)
        rates: Any = CutPort(self.world.rates, self.cutter)
        slots: Any = CutPort(self.world.slots, self.cutter)
        runs: Any = CutPort(self.world.runs, self.cutter)
        objects: Any = CutPort(self.objects, self.cutter) if self.objects else None
        return Ports(
            store=store,
            schedules=schedules,
            limits=self.world.limits,
            lanes=lanes,
            wake_policy=WAKE_POLICY,
            clock=self.world.clock,
            chance=self.world.chance,
            objects=objects,
            rates=rates,
            slots=slots,
            runs=runs,
        )

    def _run(self, task: Task, control: RunControl) -> str:
        now = self.world.clock.now()
        effect = Effect(
            task_id=task.id,
            attempt=task.attempt,
            at=now,
            due_at=task.due_at,
            payload=task.spec.payload,
        )
        self.effects.append(effect)
        if task.attempt in self._fails:
            raise ConnectionError("not this time")
        return "done"


def _put_all(ports: Ports, tasks: Sequence[Task]) -> bool:
    return all(isinstance(answer, Applied) for answer in ports.store.put(tasks))


def _api(ports: Ports) -> Api:
    return Api(ports, handlers=set, version="0")
