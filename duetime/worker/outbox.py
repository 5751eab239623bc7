"""The outcomes that an HTTP worker has still to report.

A thread sends them in batches: while other handlers run, it waits a moment after each call for more
of them. While the runner does not answer, it repeats them for up to ten minutes: a runner that is
restarted takes them, as long as it has not ended the attempts."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from duetime.core.ports import Clock
from duetime.core.times import MINUTE, SECOND, Millis
from duetime.worker.runner_calls import CallRefused, NoAnswer, RunnerBusy, RunnerCalls, pause

BATCH = 75  # of the largest results a call for outcomes takes no more
KEPT: Millis = 10 * MINUTE
GATHER: Millis = 20  # after a call, for more outcomes, while handlers run that may end
UNKNOWN = 503  # of one outcome in a batch

Json = dict[str, Any]

log = logging.getLogger(__name__)


class Outbox:
    """`on_refused` is called once if the runner refuses this worker. `running`, which may be
    set later, returns how many handlers run."""

    def __init__(
        self, calls: RunnerCalls, clock: Clock, on_refused: Callable[[CallRefused], object]
    ) -> None:
        self.running: Callable[[], int] = lambda: 0
        self._calls = calls
        self._clock = clock
        self._on_refused = on_refused
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Millis, Json]] = deque()  # when each was put, the oldest first
        self._sending = 0
        self._tries = 0
        self._reported_at: Millis | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, outcomes: Sequence[Json]) -> None:
        now = self._clock.monotonic()
        with self._changed:
            self._waiting.extend((now, outcome) for outcome in outcomes)
            self._changed.notify_all()

    @property
    def left(self) -> int:
        """How many outcomes are not reported yet."""
        return len(self._waiting) + self._sending

    def close(self, timeout: float) -> int:
        """Waits until everything is reported. Returns how many outcomes are left."""
        with self._changed:
            self._changed.wait_for(lambda: not self.left, timeout)
            self._closed = True
            self._changed.notify_all()
            return self.left

    def report(self) -> float:
        """Reports a batch. Returns the seconds until what was not answered may be sent again."""
        batch = self._take()
        wait = None
        try:
            again = self._report(batch)
        except CallRefused as error:
            self._on_refused(error)
            log.error("outcomes refused: %s", error, extra={"step": "record"})
            again = []
        except (NoAnswer, RunnerBusy) as error:
            again, wait = batch, getattr(error, "retry_after", None)
            log.warning("outcomes not reported: %s", error, extra={"step": "record"})
        self._tries = self._tries + 1 if again else 0
        self._reported_at = self._clock.monotonic()
        self._keep(again)
        return (wait or pause(self._tries)) if again else 0.0

    def _run(self) -> None:
        while self._wait():
            if wait := self.report():
                threading.Event().wait(wait)

    def _wait(self) -> bool:
        """Waits for outcomes. Returns False once the outbox is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._changed.wait_for(lambda: not self.gathers or self._closed, self.gathers)
            return not self._closed

    @property
    def gathers(self) -> float:
        """For how many seconds the outbox waits for more outcomes; 0 if it reports what it has."""
        if self._reported_at is None or len(self._waiting) >= BATCH or not self.running():
            return 0.0
        return max(self._reported_at + GATHER - self._clock.monotonic(), 0) / SECOND

    def _take(self) -> list[tuple[Millis, Json]]:
        with self._changed:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            self._sending = len(batch)
            return batch

    def _keep(self, again: Sequence[tuple[Millis, Json]]) -> None:
        old = self._clock.monotonic() - KEPT
        with self._changed:
            for at, outcome in reversed(again):
                if at >= old:
                    self._waiting.appendleft((at, outcome))
                else:
                    log.error("outcome lost: the runner did not answer", extra=_fields(outcome))
            self._sending = 0
            self._changed.notify_all()

    def _report(self, batch: Sequence[tuple[Millis, Json]]) -> list[tuple[Millis, Json]]:
        """Returns those that must be sent again."""
        results = self._calls.report([outcome for _, outcome in batch])
        again: list[tuple[Millis, Json]] = []
        for (at, outcome), result in zip(batch, results, strict=True):
            match result["status"]:
                case 200:
                    continue
                case 409:
                    log.warning("outcome refused: lease lost", extra=_fields(outcome))
                case status if status == UNKNOWN:
                    again.append((at, outcome))
                case _ if outcome["outcome"] == "succeeded":
                    again.append((at, _unstorable(outcome, result)))
                case _:
                    reason = result["error"].get("detail")
                    log.error("outcome refused: %s", reason, extra=_fields(outcome))
        return again


def _unstorable(outcome: Json, result: Json) -> Json:
    """The work is done, so the failure is permanent."""
    message = f"the runner refuses the result: {result['error'].get('detail')}"
    return {
        "id": outcome["id"],
        "holder": outcome["holder"],
        "outcome": "failed",
        "permanent": True,
        "error": {"type": "BadResult", "message": message, "traceback": None},
    }


def _fields(outcome: Json) -> dict[str, Any]:
    return {"step": "record", "task_id": outcome["id"]}
