"""Unique keys in a simulation: which submissions have one, and what must always hold of them."""

from collections import defaultdict
from collections.abc import Callable
from random import Random
from typing import Any

from duetime.core.ids import new_id
from duetime.core.task import SUPERSEDED, Task
from duetime.core.times import Millis

SHARES = [0, 0, 0, 0.4]  # of the submissions, in a world
KEYS = 4

Fail = Callable[[str, Task], object]


class UniqueWorkload:
    """Draws from a random source of its own, so that worlds without unique keys stay as they are.
    Half of the submissions with a unique key have a client-made id, not an idempotency key."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"unique-{seed}")
        self._share = self._random.choice(SHARES)
        self.keys: set[str] = set()

    def add_to(self, body: dict[str, Any], now: Millis) -> dict[str, Any]:
        random = self._random
        if random.random() >= self._share:
            return body
        key = f"unique-{random.randrange(KEYS)}"
        self.keys.add(key)
        unique = {
            "key": key,
            "while": random.choice(["pending", "running", "running"]),
            "on_conflict": random.choice(["return_existing", "replace", "reject"]),
        }
        if random.random() < 0.5:
            named = {"id": new_id(now, random.getrandbits(80)), "idempotency_key": None}
            return {**body, **named, "unique": unique}
        return {**body, "unique": unique}


class UniqueInvariants:
    """Never two live tasks with one unique key, as the store sees them."""

    def __init__(self, fail: Fail) -> None:
        self._fail = fail
        self._holders: dict[str, set[str]] = defaultdict(set)

    def check(self, task: Task) -> None:
        unique = task.spec.unique
        if unique is None:
            return
        holders = self._holders[unique.key]
        started = unique.held_while == "pending" and task.attempt > 0
        if task.status in ("SUCCEEDED", "DEAD", "CANCELLED", "EXPIRED") or started:
            holders.discard(task.id)
        else:
            holders.add(task.id)
        if len(holders) > 1:
            self._fail(f"{len(holders)} live tasks have the unique key {unique.key}", task)


def is_superseded(task: Task) -> bool:
    return task.reason == SUPERSEDED
