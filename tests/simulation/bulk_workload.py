"""Operators that act on many tasks at once: shift and cancel by a tag, discard dead tasks.

A shift goes on at its cursor, and is repeated with its key when it gets no answer, and once more at
the end. Clients that change a task replace its tags, and so take it out of the filter.
"""

from collections.abc import Callable
from typing import Any

from duetime.api.http import Response
from duetime.core.lifecycle import Status
from duetime.core.times import SECOND, Millis
from tests.simulation.world import World

SHARES = [0.0, 0.0, 0.5]  # of the tasks that have a tag, in one world
TAGS = ["shift", "shift", "cancel"]
SHIFTS, CANCELS, DISCARDS = 3, 3, 2
REPEAT_AFTER: Millis = 30 * SECOND
MAX_REPEATS = 4
PAGE = 3  # tasks of one call


class BulkWorkload:
    def __init__(self, world: World) -> None:
        self._world = world
        self._engine = world.engine
        self._random = world.engine.bulk_random
        self._laws = world.monitor.bulk
        self._share = self._random.choice(SHARES)

    def tags(self) -> dict[str, str]:
        """Returns the tags of a task that is about to be submitted."""
        wanted = self._random.random() < self._share
        return {"bulk": self._random.choice(TAGS)} if wanted else {}

    def begin(self) -> None:
        if not self._share:
            return
        for number in range(SHIFTS):
            # No other change moves a due time by exactly as many milliseconds.
            by = self._random.randint(20, 200) * SECOND + 7 * number + 1
            self._at_some_time(lambda n=number, by=by: self._shift(f"shift-{n}", by))
        for _ in range(CANCELS):
            self._at_some_time(self._cancel)
        for _ in range(DISCARDS):
            self._at_some_time(self._discard)

    def _at_some_time(self, act: Callable[[], None]) -> None:
        self._engine.after(self._random.randint(0, self._world.faults.lasts), act)

    def _shift(self, key: str, by: Millis) -> None:
        self._laws.shifts[by] = key
        body = {"tag": "bulk:shift", "by": by / SECOND, "idempotency_key": key, "limit": PAGE}
        self._send("shift", body, MAX_REPEATS)
        self._engine.after(MAX_REPEATS * REPEAT_AFTER, lambda: self._send("shift", body, 0))

    def _cancel(self) -> None:
        body = {"tag": "bulk:cancel", "status": ["PENDING", "ENQUEUED"], "limit": PAGE}
        self._send("cancel", body, MAX_REPEATS)

    def _send(self, operation: str, body: dict[str, Any], repeats: int) -> None:
        """Sends the first page and those after it. A call without an answer is sent again."""
        over: list[Response] = []

        def answered(answer: Response) -> None:
            over.append(answer)
            if answer.status == 200 and (cursor := answer.body["next_cursor"]):
                self._send(operation, {**body, "cursor": cursor}, repeats)
            elif answer.status == 503:
                over.clear()

        def again() -> None:
            if not over:
                self._send(operation, body, repeats - 1)

        self._world.request("POST", f"/v1/tasks/{operation}", body, answered, role="bulk")
        if repeats:
            self._engine.after(REPEAT_AFTER, again)

    def _discard(self) -> None:
        dead = [t for t in self._world.monitor.tasks.values() if t.status is Status.DEAD]
        chosen = [task for task in dead if self._random.random() < 0.5]
        if chosen:
            self._laws.discards |= {task.id for task in chosen}
            query = {"ids": ",".join(task.id for task in chosen)}
            self._world.request("DELETE", "/v1/dead-letters", query=query, role="bulk")
