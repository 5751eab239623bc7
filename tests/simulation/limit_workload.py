"""Limits in a simulation: which submissions are under one, and how their definitions change."""

from random import Random
from typing import Any

from duetime.core.errors import Unavailable
from duetime.core.lifecycle import Status
from duetime.core.limits.definition import Limit, OnDead, OnFull
from duetime.core.times import MINUTE, SECOND
from duetime.local import event_pump
from duetime.local.backends import look_at_watched_lines
from tests.simulation.engine import Process
from tests.simulation.unique_workload import is_superseded
from tests.simulation.world import World

SHARES = [0.0, 0.0, 0.0, 0.6]  # of the submissions, in a world
CHANGES = [0, 0, 2]  # of the definition, in a world
ON_FULL = [OnFull.QUEUE] * 8 + [OnFull.SKIP, OnFull.CANCEL]
NAME = "few"
KEYS = 2
ORDERED_SHARES = [0.0, 0.0, 0.0, 0.4]  # of the submissions, in a world
LONGEST = 60 * SECOND  # of an attempt under a limit
BLOCKING = 0.3  # of the tasks with an ordering key
RELEASE_EVERY = 3 * MINUTE  # an operator retries dead tasks that block their key, or discards them
ON_ONE_MACHINE = [False, False, True]  # whether a process looks at the lines every other second


class LimitWorkload:
    """Draws from a random source of its own, so that worlds without limits stay as they are."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._random = random = Random(f"limits-{world.seed}")
        self._share = random.choice(SHARES)
        self._changes = random.choice(CHANGES)
        self._concurrency = random.randint(1, 3)
        self._ordered_share = random.choice(ORDERED_SHARES)
        self._on_one_machine = Random(f"one machine {world.seed}").choice(ON_ONE_MACHINE)
        self._operator = Random(f"operator {world.seed}")

    def begin(self) -> None:
        if self._ordered_share:
            self._world.engine.after(RELEASE_EVERY, self._release)
        if self._on_one_machine and (self._share or self._ordered_share):
            self._world.monitor.limits.on_one_machine = True
            self._world.process("lines", self._look_at_lines)
        self._define(self._concurrency)
        for _ in range(self._changes if self._share else 0):
            at = self._random.randint(0, self._world.faults.lasts)
            wanted = self._random.choice([1, 2, 3, 4, None])
            self._world.engine.after(at, lambda c=wanted: self._define(c))
        at = self._world.faults.lasts + MINUTE  # it exists again at the end
        self._world.engine.after(at, lambda: self._define(self._concurrency))

    def add_to(self, body: dict[str, Any]) -> dict[str, Any]:
        return self._ordered(self._limited(body))

    def _ordered(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._random.random() >= self._ordered_share:
            return body
        key = f"key-{self._random.randrange(KEYS)}"
        on_dead = OnDead.BLOCK if self._random.random() < BLOCKING else OnDead.CONTINUE
        ordered = {"ordering_key": key, "on_dead": on_dead}
        return {**body, "payload": _shortened(body["payload"]), **ordered}

    def _limited(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._random.random() >= self._share:
            return body
        key, on_full = str(self._random.randrange(KEYS)), self._random.choice(ON_FULL)
        use = {"name": NAME, "key": key, "on_full": on_full}
        return {**body, "payload": _shortened(body["payload"]), "limits": [use]}

    def _release(self) -> None:
        """Retries or discards the dead tasks that block their key. One that is superseded can only
        be discarded; after the faults, every other one is retried."""
        engine, monitor = self._world.engine, self._world.monitor
        engine.after(RELEASE_EVERY, self._release)
        for task in list(monitor.tasks.values()):
            blocks = task.spec.ordering_key is not None and task.spec.on_dead is OnDead.BLOCK
            if not blocks or task.status is not Status.DEAD:
                continue
            calm = monitor.faults.over_at is not None
            if is_superseded(task) or (not calm and self._operator.random() < 0.3):
                monitor.bulk.discards.add(task.id)
                query = {"ids": task.id}
                self._world.request("DELETE", "/v1/dead-letters", query=query, role="operator")
            else:
                monitor.asked.add(task.id)
                self._world.request("POST", f"/v1/tasks/{task.id}/retry", role="operator")

    def _look_at_lines(self, process: Process) -> None:
        """Does what the local runner does beside its ticks."""
        process.on_end = lambda killed: self._world.process("lines", self._look_at_lines)
        ports, _ = self._world.ports(process)
        while True:
            try:
                look_at_watched_lines(ports, self._world.slots)
            except Unavailable as error:
                process.note("lines not looked at", str(error))
            process.sleep_until(self._world.engine.now + event_pump.LINES_PAUSE)

    def _define(self, concurrency: int | None) -> None:
        """Replaces the definition; None deletes it."""
        limits = self._world.limits
        if concurrency is None:
            for limit in limits.get("default", [NAME]).values():
                limits.delete(limit)
        else:
            limits.put(Limit(namespace="default", name=NAME, concurrency=concurrency))
        self._world.monitor.limits.defined(NAME, concurrency)


def _shortened(plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**step, "takes": min(step["takes"], LONGEST)} for step in plan]
