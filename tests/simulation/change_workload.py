"""Clients that change tasks and run them now.

Each task has at most one client that changes it. The client numbers its versions in a tag, and
sends the next one when it has an answer. Now and then a second client runs the task now at the same
moment, and must not bring an older version back.
"""

from collections.abc import Callable
from typing import Any

from duetime.api.http import Response
from duetime.core.lanes import Lane
from duetime.core.times import SECOND, Millis, rfc3339
from tests.simulation import handler_plans
from tests.simulation.world import World

SHARES = [0.0, 0.4]  # of the tasks that are changed, in one world
RUN_BESIDE = 0.3  # of the changes: a second client runs the task now
MAX_VERSIONS = 4
RETRY_AFTER: Millis = 3 * SECOND


class ChangeWorkload:
    def __init__(self, world: World) -> None:
        self._world = world
        self._engine = world.engine
        self._random = world.engine.change_random
        self._laws = world.monitor.versions
        self._share = self._random.choice(SHARES)
        self._seen: set[str] = set()

    def accepted(self, task_id: str) -> None:
        """Called with the task of each submission that was answered: a task that several return,
        since its unique key is theirs, is changed by one client."""
        seen, self._seen = task_id in self._seen, self._seen | {task_id}
        if self._random.random() < self._share and not seen:
            self._soon(lambda: self._change(task_id, 1))

    def _soon(self, act: Callable[[], None]) -> None:
        longest = self._random.choice([2, 60, 400])
        self._engine.after(round(self._random.uniform(0, longest) * SECOND), act)

    def _change(self, task_id: str, version: int) -> None:
        if self._world.faults.over_at is not None:
            return
        if self._random.random() < RUN_BESIDE:
            self._run_now(task_id)
        self._patch(task_id, version, self._fields(version))

    def _patch(self, task_id: str, version: int, fields: dict[str, Any]) -> None:
        def answered(answer: Response) -> None:
            self._laws.answered(task_id, answer, version)
            if answer.status == 503:
                again = lambda: self._patch(task_id, version, fields)  # noqa: E731
                self._engine.after(RETRY_AFTER, again)
            elif answer.status == 200 and version < MAX_VERSIONS:
                self._soon(lambda: self._change(task_id, version + 1))

        self._laws.asked(task_id, version, fields)
        self._world.request("PATCH", f"/v1/tasks/{task_id}", fields, answered)

    def _run_now(self, task_id: str) -> None:
        self._world.request(
            "POST",
            f"/v1/tasks/{task_id}/run",
            on_answer=lambda answer: self._laws.answered(task_id, answer),
        )

    def _fields(self, version: int) -> dict[str, Any]:
        """Returns a whole version: what a run of it must see, and perhaps another time."""
        random = self._random
        fields: dict[str, Any] = {
            "tags": {"version": str(version)},
            "payload": handler_plans.draw_plan(random, 4),
            "priority": random.choice(list(Lane)),
            "timeout": random.choice([5, 20, 60, 200]),
        }
        if random.random() < 0.6:
            fields["delay"] = random.choice([0, random.randint(0, 200), random.randint(240, 900)])
        if random.random() < 0.3:
            fields["retry"] = {"max_attempts": random.randint(1, 5)}
        if random.random() < 0.1:
            fields["expires_at"] = rfc3339(self._engine.now + random.randint(1, 1_200) * SECOND)
        return fields
