"""The API over a store, with a stepped clock and loaded dice; it records writes and deliveries."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.change import Answer, Change
from duetime.core.delivery import Delivery
from duetime.core.limits.ports import LimitStore
from duetime.core.ports import ObjectStore, Ports, TaskStore
from duetime.core.schedules.ports import ScheduleAnswer, ScheduleStore
from duetime.core.schedules.schedule import Schedule
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.wake_policy import Draw
from duetime.core.workflows.ports import RunStore
from duetime.sqlite.lane_queue import MemoryLaneQueue
from tests.factories import WAKE_POLICY, SteppedClock, a_draw, a_listing, an_id

HANDLER = "reports.daily"
PYTHON: dict[str, Any] = {"type": "python", "handler": HANDLER}
NOON: dict[str, Any] = {"type": "cron", "expression": "0 12 * * *"}
EVERY_MINUTE: dict[str, Any] = {"type": "cron", "expression": "* * * * *"}


class Dice:
    luck = 0.0

    def draw(self) -> Draw:
        return a_draw(luck=self.luck)

    def draws(self, count: int) -> list[Draw]:
        return [self.draw() for _ in range(count)]

    def nonce(self) -> str:
        return a_draw().nonce

    def nonces(self, count: int) -> list[str]:
        return [self.nonce() for _ in range(count)]

    def new_id(self, now: Millis) -> str:
        return an_id(now)


class WatchedStore:
    """A store whose writes are noted, and whose answers a test may replace."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store
        self.writes: list[str] = []
        self.put_answer: Callable[[Task], Answer | None] = lambda task: None
        self.apply_answer: Callable[[Change], Answer | None] = lambda change: None

    def put(self, tasks: Sequence[Task]) -> list[Answer]:
        self.writes.append("put")
        return [self.put_answer(task) or self._store.put([task])[0] for task in tasks]

    def apply(self, changes: Sequence[Change]) -> list[Answer]:
        self.writes.append("apply")
        return [self.apply_answer(c) or self._store.apply([c])[0] for c in changes]

    def reserve(self, *arguments: Any) -> Any:
        self.writes.append("reserve")
        return self._store.reserve(*arguments)

    def take_keys(self, *arguments: Any) -> Any:
        self.writes.append("take_keys")
        return self._store.take_keys(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class WatchedSchedules:
    """As above."""

    def __init__(self, store: ScheduleStore, writes: list[str]) -> None:
        self._store = store
        self._writes = writes
        self.put_answer: Callable[[Schedule], ScheduleAnswer | None] = lambda schedule: None
        self._fails: dict[str, Exception] = {}

    def fail(self, call: str, error: Exception) -> None:
        """Makes every call of this name raise."""
        assert callable(getattr(self._store, call))
        self._fails[call] = error

    def put(self, schedules: Sequence[Schedule]) -> list[ScheduleAnswer]:
        self._writes.append("put schedule")
        return [self.put_answer(s) or self._store.put([s])[0] for s in schedules]

    def delete(self, schedule_id: str) -> None:
        self._writes.append("delete schedule")
        self._store.delete(schedule_id)

    def __getattr__(self, name: str) -> Any:
        if name in self._fails:
            raise self._fails[name]
        return getattr(self._store, name)


class WatchedLanes(MemoryLaneQueue):
    def __init__(self, clock: SteppedClock) -> None:
        super().__init__(clock)
        self.refuses = False
        self.fails: Exception | None = None
        self.sent: list[Delivery] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        if self.fails:
            raise self.fails
        if self.refuses:
            return [False] * len(deliveries)
        self.sent += deliveries
        return super().send(deliveries, now)


class Service:
    def __init__(
        self,
        store: Any,
        clock: SteppedClock,
        schedules: ScheduleStore | None = None,
        objects: ObjectStore | None = None,
        limit_store: LimitStore | None = None,
        runs: RunStore | None = None,
        **limits: Any,
    ) -> None:
        """The SQLite store brings its schedules, limits and runs along."""
        self.clock = clock
        self.dice = Dice()
        self.store = WatchedStore(store)
        self.lanes = WatchedLanes(clock)
        kept = schedules or store.schedules(clock)
        self.schedules = WatchedSchedules(kept, self.store.writes)
        self.ports = Ports(
            store=self.store,
            schedules=self.schedules,
            limits=limit_store or (store.limits() if hasattr(store, "limits") else None),
            lanes=self.lanes,
            wake_policy=WAKE_POLICY,
            clock=clock,
            chance=self.dice,
            objects=objects,
            runs=runs or (store.runs() if hasattr(store, "runs") else None),
        )
        self.api = Api(self.ports, handlers=lambda: {HANDLER}, version="9.9.9", **limits)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """The body as bytes is sent as it is, anything else as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} | (headers or {})
        request = Request(method=method, path=path, query=query or {}, headers=sent, body=data)
        return self.api.call(request)

    def post(self, fields: Any, **headers: str) -> Response:
        return self.call("POST", "/v1/tasks", fields, headers=headers)

    def submit(self, key: str | None = None, **fields: Any) -> Response:
        headers = {} if key is None else {"idempotency-key": key}
        return self.post({"target": PYTHON, **fields}, **headers)

    def batch(self, *tasks: Any) -> Response:
        return self.call("POST", "/v1/tasks/batch", {"tasks": tasks})

    def schedule(self, key: str | None = None, **fields: Any) -> Response:
        """Without a rule, every day at noon."""
        rule = {} if "rule" in fields or "rules" in fields else {"rule": NOON}
        body = {"task": {"target": PYTHON}, **rule, **fields}
        headers = {} if key is None else {"idempotency-key": key}
        return self.call("POST", "/v1/schedules", body, headers=headers)

    def on(self, schedule_id: str, call: str, body: Any = b"", **headers: str) -> Response:
        return self.call("POST", f"/v1/schedules/{schedule_id}/{call}", body, headers=headers)

    def get(self, path: str, **query: Any) -> Response:
        return self.call("GET", path, b"", query=query)

    def stored(self, namespace: str = "default") -> list[Task]:
        """Newest first."""
        return list(self.store.page(a_listing(namespace=namespace, limit=1_000)).tasks)


def refusal(response: Response) -> dict[str, str]:
    """The fields that were refused, each with the reason."""
    assert response.status == 422, response.body
    return {error["field"]: error["message"] for error in response.body["errors"]}


def as_sent(response: Response) -> Any:
    """The body as it goes over the wire and back."""
    return json.loads(response.encoded())
