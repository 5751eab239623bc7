"""Limits in a simulation: which submissions are under one, and how their definitions change."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

from duetime.core.limits.definition import Limit, LimitUse, OnFull
from duetime.core.limits.slots import Line
from duetime.core.steps import submit as submit_step
from duetime.core.task import Spec, Task
from duetime.core.times import MINUTE, SECOND
from tests.simulation.world import World

SHARES = [0.0, 0.0, 0.0, 0.6]  # of the submissions, in a world
CHANGES = [0, 0, 2]  # of the definition, in a world
ON_FULL = [OnFull.QUEUE] * 8 + [OnFull.SKIP, OnFull.CANCEL]
NAME = "few"
KEYS = 2
TAG = "under"  # the submitted task is under the limit with this key
LONGEST = 60 * SECOND  # of an attempt under a limit


class LimitWorkload:
    """Draws from a random source of its own, so that worlds without limits stay as they are."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._random = random = Random(f"limits-{world.seed}")
        self._share = random.choice(SHARES)
        self._changes = random.choice(CHANGES)
        self._concurrency = random.randint(1, 3)

    def begin(self) -> None:
        self._define(self._concurrency)
        for _ in range(self._changes if self._share else 0):
            at = self._random.randint(0, self._world.faults.lasts)
            wanted = self._random.choice([1, 2, 3, 4, None])
            self._world.engine.after(at, lambda c=wanted: self._define(c))
        at = self._world.faults.lasts + MINUTE  # it exists again at the end
        self._world.engine.after(at, lambda: self._define(self._concurrency))

    def add_to(self, body: dict[str, Any]) -> dict[str, Any]:
        if self._random.random() >= self._share:
            return body
        use = f"{self._random.randrange(KEYS)}/{self._random.choice(ON_FULL)}"
        plan = [{**step, "takes": min(step["takes"], LONGEST)} for step in body["payload"]]
        return {**body, "payload": plan, "tags": {**body["tags"], TAG: use}}

    def _define(self, concurrency: int | None) -> None:
        """Replaces the definition; None deletes it."""
        limits = self._world.limits
        if concurrency is None:
            limits.delete("default", NAME)
        else:
            limits.put(Limit(namespace="default", name=NAME, concurrency=concurrency))
        self._world.monitor.limits.defined(NAME, concurrency)


def line_of(task: Task) -> Line | None:
    """Returns the line of a task that is under the limit."""
    for use in task.spec.limits:
        return Line(namespace=task.spec.namespace, limit=use.name, key=use.key)
    return None


@contextmanager
def limited_submissions() -> Iterator[None]:
    """Puts tasks with the tag under the limit."""

    def submit(wake_policy: Any, task_id: str, spec: Spec, **given: Any) -> Task:
        return submit_step.submit(wake_policy, task_id, limited(spec), **given)

    with patch("duetime.engine.submission.submit", submit):
        yield


def limited(spec: Spec) -> Spec:
    if TAG not in spec.tags or spec.limits:
        return spec
    key, _, on_full = spec.tags[TAG].partition("/")
    return replace(spec, limits=(LimitUse(name=NAME, key=key, on_full=OnFull(on_full)),))
