"""Where an HTTP worker takes its work from: leases of the runner.

The runner shares the leases out among the lanes, and a lease is taken only for a slot that is free.
While most slots are busy with short tasks, one call asks for several: a call costs the runner and
the worker more than a lease.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from duetime.core.delivery import Message
from duetime.core.lanes import Lane
from duetime.core.ports import Clock
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.core.worker_calls import LONGEST_POLL, MAX_LEASES
from duetime.version import VERSION
from duetime.worker.http_executor import HttpExecutor
from duetime.worker.leased_task import read_lease
from duetime.worker.options import BadConfiguration
from duetime.worker.runner_calls import CallRefused, NoAnswer, RunnerBusy, RunnerCalls, pause

log = logging.getLogger(__name__)

GATHER: Millis = 20  # after an answer, for more slots to become free, unless half of them are

WaitForSlots = Callable[[float, int], int]  # the seconds, and how many; returns how many are free


@value(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What a worker asks for. `new_request` returns a new ULID."""

    pool: str | None
    lanes: Sequence[Lane]
    handlers: Callable[[], Sequence[str]]
    concurrency: int
    host: str
    new_request: Callable[[], str]


class HttpLanes:
    """One thread calls `ready` and `take`; any may call `close`. `wait_for_slots` waits until so
    many slots are free, and returns how many are."""

    polled: Collection[Lane] = ()

    def __init__(
        self,
        calls: RunnerCalls,
        executor: HttpExecutor,
        clock: Clock,
        wanted: Wanted,
        wait_for_slots: WaitForSlots | None = None,
    ) -> None:
        self._calls = calls
        self._executor = executor
        self._clock = clock
        self._wanted = wanted
        self._wait_for_slots = wait_for_slots
        self._answered_at: Millis | None = None
        self._refusal: CallRefused | None = None
        self._at_hand: dict[Lane, deque[Message]] = {lane: deque() for lane in Lane}
        self._unanswered: dict[str, Any] | None = None
        self._tries = 0
        self._closing = threading.Event()

    def ready(self, wait: float, limit: int) -> Mapping[Lane, int]:
        """Leases up to `limit` tasks. With a `wait`, the call waits as long as the runner lets it:
        `close` ends it. A call without an answer is repeated unchanged, since the runner may have
        leased something for it. Raises BadConfiguration if the runner refuses this worker."""
        if not any(self._at_hand.values()) and not self._closing.is_set():
            self._lease(LONGEST_POLL if wait else 0, min(self._gather(limit), MAX_LEASES))
        if self._refusal is not None:
            raise BadConfiguration(f"the runner refuses this worker: {self._refusal}")
        return {lane: len(messages) for lane, messages in self._at_hand.items() if messages}

    def take(self, lane: Lane, limit: int) -> list[Message]:
        at_hand = self._at_hand[lane]
        return [at_hand.popleft() for _ in range(min(limit, len(at_hand)))]

    def poll(self, lane: Lane, wait: float) -> None:
        """Does nothing: no lane is polled."""

    def refuse(self, error: CallRefused) -> None:
        """The runner has refused another call, and would refuse the next one. Any thread."""
        self._refusal = error
        self.close()

    def close(self) -> None:
        """Ends the call that waits. From now on the renewals say that the worker drains."""
        self._executor.draining = True
        self._closing.set()
        self._calls.end_poll()

    def give_back(self) -> None:
        """Gives back what was leased and not taken, once `ready` is not called any more."""
        left = [message for messages in self._at_hand.values() for message in messages]
        for messages in self._at_hand.values():
            messages.clear()
        if left:
            self._executor.hand_back(left)

    def _gather(self, free: int) -> int:
        """Returns how many slots to ask for, `free` or more."""
        enough = self._wanted.concurrency // 2
        if self._wait_for_slots is None or self._answered_at is None or free >= enough:
            return free
        left = self._answered_at + GATHER - self._clock.monotonic()
        return max(self._wait_for_slots(left / SECOND, enough), free) if left > 0 else free

    def _lease(self, wait: float, limit: int) -> None:
        fields = self._fields(wait, limit)
        sent_at = self._clock.monotonic()
        try:
            answer = self._calls.lease(fields)
        except CallRefused as error:
            if error.status == 409:  # a bug: this request was used before
                log.error("lease refused: %s", error, extra={"step": "lease"})
                self._unanswered = None
                self._wait(None)
                return
            self._refusal = error
            return
        except (NoAnswer, RunnerBusy) as error:
            if not self._closing.is_set():
                log.warning("nothing leased: %s", error, extra={"step": "lease"})
                self._wait(getattr(error, "retry_after", None))
            return
        self._unanswered, self._tries = None, 0
        self._answered_at = self._clock.monotonic()
        leased_at = sent_at + int(answer["leased_after"] * SECOND)
        leases = [read_lease(given, leased_at) for given in answer["leases"]]
        self._executor.leased(leases)
        for lease in leases:
            self._at_hand[lease.task.lane].append(lease.message)

    def _fields(self, wait: float, limit: int) -> dict[str, Any]:
        if self._unanswered is not None:
            return self._unanswered
        wanted = self._wanted
        self._unanswered = {
            "pool": wanted.pool,
            "lanes": [lane.value for lane in wanted.lanes],
            "handlers": list(wanted.handlers()),
            "max": limit,
            "wait": wait,
            "request": wanted.new_request(),
            "concurrency": wanted.concurrency,
            "host": wanted.host,
            "version": VERSION,
        }
        return self._unanswered

    def _wait(self, retry_after: float | None) -> None:
        self._tries += 1
        self._closing.wait(pause(self._tries) if retry_after is None else retry_after)
