"""Ports that a test can break: wrappers around the store, the schedules, the cursors and the lanes.

`tests/world.py`, `tests/cuts` and `tests/simulation` break calls in different ways, and share how
a port is wrapped.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duetime.core.change import Unknown
from duetime.core.delivery import Delivery, Message
from duetime.core.lanes import Queue
from duetime.core.limits.ports import RateStore
from duetime.core.limits.slots import SlotStore
from duetime.core.ports import Archive, CursorStore, Depth, LaneQueue, ObjectStore, TaskStore
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.times import Millis
from duetime.core.workflows.ports import RunStore

PORTS = (
    TaskStore,
    ScheduleStore,
    CursorStore,
    LaneQueue,
    Archive,
    ObjectStore,
    SlotStore,
    RateStore,
    RunStore,
)
VERBS = frozenset(name for port in PORTS for name in vars(port) if not name.startswith("_"))


class FaultyPort:
    """A port whose calls all go through `_call`. Attributes that are no verbs pass through."""

    def __init__(self, port: Any) -> None:
        self.port = port

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.port, name)
        return partial(self._call, name, found) if name in VERBS else found

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        raise NotImplementedError


class InterruptiblePort(FaultyPort):
    """A store whose next call of a verb can be interrupted, or whose next write gets no answer.

    `before` holds an interruption by verb. It runs once, before the call, and may raise. A silent
    store answers Unknown to its next `put` or `apply`, and has not made it."""

    def __init__(self, port: Any) -> None:
        super().__init__(port)
        self.before: dict[str, Callable[[], object]] = {}
        self.silent = False

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        if interruption := self.before.pop(verb, None):
            interruption()
        if self.silent and verb in ("put", "apply"):
            self.silent = False
            return [Unknown("no answer")] * len(arguments[0])
        return call(*arguments)


class FaultyLanes(FaultyPort):
    """Lanes that lose or refuse messages on demand, and record what passes through them."""

    def __init__(self, port: LaneQueue) -> None:
        super().__init__(port)
        self.fate = "sent"  # or "lost", "refused", or "unknown": sent, but answered as refused
        self.crowd: int | None = None  # what `depth` says of every lane
        self.sent: list[Delivery] = []
        self.buried: list[Message] = []
        self.deleted: list[Message] = []
        self.held: list[Message] = []

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        if self.fate in ("sent", "unknown"):
            self.sent += deliveries
            self.port.send(deliveries, now)
        return [self.fate in ("sent", "lost")] * len(deliveries)

    def depth(self, queue: Queue) -> Depth:
        if self.crowd is None:
            depth: Depth = self.port.depth(queue)
            return depth
        return Depth(ready=self.crowd, delayed=0, in_flight=0)

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        recorded = {"delete": self.deleted, "hold": self.held, "bury": self.buried}
        if verb in recorded:
            recorded[verb] += arguments[0]
        return call(*arguments)
