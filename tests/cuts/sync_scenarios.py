"""A sync of declared schedules that dies at any call, or that a newer generation overtakes."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from duetime.api.app import Api
from duetime.api.http import Request, Response
from duetime.core.ports import Ports
from duetime.core.schedules.ports import ScheduleListing
from duetime.sqlite.lane_queue import MemoryLaneQueue
from tests.api.service import Dice
from tests.backends import Stores
from tests.cuts.cut_points import Cut
from tests.factories import WAKE_POLICY
from tests.faulty_ports import FaultyPort

APP = "shop"
State = dict[str, tuple[str, str]]  # name → status, overlap policy
Manifest = dict[str, str]  # name → overlap policy

BEFORE: Manifest = {"same": "skip", "changed": "skip", "removed": "skip"}
AFTER: Manifest = {"same": "skip", "changed": "queue", "created": "skip"}
# What the sync to AFTER would remove, the newest keeps; what it would create, the newest lacks.
NEWEST: Manifest = {"same": "skip", "changed": "cancel", "removed": "skip"}


class CountedPort(FaultyPort):
    """A port whose calls are counted together with those of others; `before` runs before a call and
    may raise, and so may `after`."""

    def __init__(self, port: Any, calls: "Calls") -> None:
        super().__init__(port)
        self._calls = calls

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        number = self._calls.next(verb)
        self._calls.before(number)
        answer = call(*arguments)
        self._calls.after(number)
        return answer


@dataclass
class Calls:
    verbs: list[str]
    before: Callable[[int], None] = lambda number: None
    after: Callable[[int], None] = lambda number: None

    def next(self, verb: str) -> int:
        self.verbs.append(verb)
        return len(self.verbs) - 1


@dataclass
class SyncWorld:
    """The API over a store, with the schedules of BEFORE; a sync goes through counted ports."""

    stores: Stores

    def ports(self, calls: Calls | None = None) -> Ports:
        tasks, schedules = self.stores.tasks, self.stores.schedules
        return Ports(
            store=CountedPort(tasks, calls) if calls else tasks,  # type: ignore[arg-type]
            schedules=CountedPort(schedules, calls) if calls else schedules,  # type: ignore[arg-type]
            limits=self.stores.limits,
            lanes=MemoryLaneQueue(self.stores.clock),
            wake_policy=WAKE_POLICY,
            clock=self.stores.clock,
            chance=Dice(),
        )

    def take(self) -> int:
        return int(_post(self.ports(), "/generations", {"app": APP}).body["generation"])

    def sync(
        self, manifest: Manifest, generation: int, calls: Calls | None = None, **options: Any
    ) -> Response:
        body = {"app": APP, "generation": generation, **options}
        schedules = [_declared(name, overlap) for name, overlap in manifest.items()]
        return _post(self.ports(calls), "", {**body, "schedules": schedules})

    def state(self) -> State:
        page = self.stores.schedules.page(ScheduleListing())
        found = {s.plan.name: (s.status.value, s.plan.overlap.value) for s in page.schedules}
        assert len(found) == len(page.schedules)
        return found  # type: ignore[return-value]


def _declared(name: str, overlap: str) -> dict[str, Any]:
    return {
        "name": name,
        "rule": {"type": "rate", "every": 60},
        "task": {"target": {"type": "python", "handler": "reports.daily"}},
        "overlap": overlap,
        "source": "reports.py:1",
    }


def _post(ports: Ports, path: str, body: Any) -> Response:
    api = Api(ports, handlers=lambda: {"reports.daily"}, version="0")
    headers = {"content-type": "application/json"}
    sent = json.dumps(body).encode()
    request = Request(method="POST", path=f"/v1/schedules/sync{path}", headers=headers, body=sent)
    return api.call(request)


@contextmanager
def prepared(open_stores: Callable[[], Any]) -> Iterator[SyncWorld]:
    with open_stores() as stores:
        world = SyncWorld(stores)
        assert world.sync(BEFORE, world.take()).status == 200
        yield world


def count_calls(open_stores: Callable[[], Any], **options: Any) -> int:
    with prepared(open_stores) as world:
        calls = Calls([])
        assert world.sync(AFTER, world.take(), calls, **options).status == 200
        return len(calls.verbs)


def cut(world: SyncWorld, number: int, where: str, generation: int, **options: Any) -> None:
    """Starts a sync to AFTER that dies before or after a call."""

    def die(at: int) -> None:
        if at >= number:  # it makes no further call, even if it catches the exception
            raise Cut

    calls = Calls([], **{where: die})
    try:
        world.sync(AFTER, generation, calls, **options)
    except Cut:
        return
    raise AssertionError("the sync was not cut")


def overtaken(world: SyncWorld, number: int) -> Response:
    """Returns the answer of a sync to AFTER during which a newer generation syncs NEWEST."""
    older, newer = world.take(), world.take()

    def overtake(at: int) -> None:
        if at == number:
            assert world.sync(NEWEST, newer).status == 200

    return world.sync(AFTER, older, Calls([], before=overtake))


def is_declared(state: State, manifest: Manifest) -> bool:
    """Whether the schedules of a manifest are active and as declared, and no other is active."""
    active = {name: overlap for name, (status, overlap) in state.items() if status == "active"}
    return active == manifest
