"""Limits in a simulation: which submissions are under one, and how their definitions change."""

from random import Random
from typing import Any

from duetime.core.limits.definition import Limit, OnFull
from duetime.core.times import MINUTE, SECOND
from tests.simulation.world import World

SHARES = [0.0, 0.0, 0.0, 0.6]  # of the submissions, in a world
CHANGES = [0, 0, 2]  # of the definition, in a world
ON_FULL = [OnFull.QUEUE] * 8 + [OnFull.SKIP, OnFull.CANCEL]
NAME = "few"
KEYS = 2
ORDERED_SHARES = [0.0, 0.0, 0.0, 0.4]  # of the submissions, in a world
LONGEST = 60 * SECOND  # of an attempt under a limit


class LimitWorkload:
    """Draws from a random source of its own, so that worlds without limits stay as they are."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._random = random = Random(f"limits-{world.seed}")
        self._share = random.choice(SHARES)
        self._changes = random.choice(CHANGES)
        self._concurrency = random.randint(1, 3)
        self._ordered_share = random.choice(ORDERED_SHARES)

    def begin(self) -> None:
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
        return {**body, "payload": _shortened(body["payload"]), "ordering_key": key}

    def _limited(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._random.random() >= self._share:
            return body
        key, on_full = str(self._random.randrange(KEYS)), self._random.choice(ON_FULL)
        use = {"name": NAME, "key": key, "on_full": on_full}
        return {**body, "payload": _shortened(body["payload"]), "limits": [use]}

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
