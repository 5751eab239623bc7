"""Handlers that submit others in a simulation, and what must always hold of their children."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from duetime.core.lanes import Lane
from duetime.core.task import Task
from duetime.executor.run_control import RunControl
from duetime.handlers.handler import Handler
from tests.simulation import handler_plans

SHARES = [0, 0, 0.3]  # of the tasks, in a world
CALL = "call"  # the tag that says which call of its parent has made a child

Fail = Callable[[str, Task], object]


class ChildWorkload:
    """Draws what a handler submits from the id of its task, so that every attempt submits the same.
    Only a child with a step has another payload in each attempt."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._share = Random(f"children-{seed}").choice(SHARES)

    def stop(self) -> None:
        """From now on handlers submit nothing."""
        self._share = 0

    def bodies(self, task: Task, handler: str) -> list[dict[str, Any]]:
        random = Random(f"children-{self._seed}-{task.id}")
        if task.spec.parent_id is not None or random.random() >= self._share:
            return []
        return [self._body(task, handler, number, random) for number in range(random.randint(1, 3))]

    def _body(self, task: Task, handler: str, number: int, random: Random) -> dict[str, Any]:
        attempts = random.randint(1, 3)
        body = {
            "target": {"type": "python", "handler": handler},
            "payload": handler_plans.draw_plan(random, attempts),
            "delay": random.choice([0, 0, random.randint(0, 200), random.randint(240, 900)]),
            "priority": random.choice([lane.value for lane in Lane]),
            "retry": {"max_attempts": attempts, "base_delay": random.choice([0, 1, 20])},
            "tags": {CALL: str(number)},
        }
        if random.random() < 0.4:
            body["step"] = f"step-{number}"
            body["payload"] = handler_plans.draw_plan(Random(f"{task.id}-{task.attempt}"), attempts)
        return body


class ChildInvariants:
    """Each call of a parent makes one child in all its attempts, and what is answered is stored."""

    def __init__(self, fail: Fail, tasks: dict[str, Task]) -> None:
        self._fail = fail
        self._tasks = tasks
        self._made: dict[tuple[str, str], set[str]] = defaultdict(set)

    def stored(self, task: Task) -> None:
        if task.spec.parent_id is None:
            return
        ids = self._made[task.spec.parent_id, task.spec.tags[CALL]]
        ids.add(task.id)
        if len(ids) > 1:
            self._fail(f"one call of its parent has made {len(ids)} children", task)

    def answered(self, parent: Task, answers: Sequence[dict[str, Any]]) -> None:
        for answer in answers:
            if answer["status"] not in (200, 201):
                self._fail(f"a child was refused: {answer}", parent)
            elif answer["task"]["id"] not in self._tasks:
                self._fail(f"child {answer['task']['id']} was answered and is not stored", parent)


def submit_children(control: RunControl, bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Submits some with one call and the rest one by one."""
    first, rest = bodies[:2], bodies[2:]
    return control.submit(first) + [answer for body in rest for answer in control.submit([body])]


def a_handler(name: str) -> Handler[..., Any]:
    return Handler(lambda payload: payload, name, isolated=False, defaults={})
