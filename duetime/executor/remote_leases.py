"""The leases that HTTP workers ask a runner for.

A call that is repeated gets the leases that the first one got: its answer may have been lost.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock
from typing import Any, Protocol

from duetime.core.codec import to_json
from duetime.core.delivery import Message
from duetime.core.lanes import Lane, Queue
from duetime.core.ports import Ports
from duetime.core.shares import Shares, Weights
from duetime.core.steps.record import INTERRUPTED
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.worker_calls import ANSWER_LIMIT, ANSWERS_KEPT, Leased, LeaseRequest
from duetime.engine.refusal import Refusal
from duetime.executor.remote_workers import RemoteWorker, RemoteWorkers
from duetime.executor.running_attempts import RunningAttempts
from duetime.executor.runs import Ended, Run, failed
from duetime.handlers.context import Previous

BATCH = 25  # leases that are taken together: their payloads may be large


class RemoteLanes(Protocol):
    """Lanes from which messages are taken for some handlers only."""

    def ready_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: frozenset[str], limit: int
    ) -> Mapping[Lane, int]: ...

    def take_for(self, queue: Queue, handlers: frozenset[str], limit: int) -> list[Message]: ...

    def next_visible_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: frozenset[str]
    ) -> Millis | None: ...


@value(frozen=True, slots=True)
class _Answered:
    body_hash: str
    holders: Sequence[str]
    at: Millis


class RemoteLeases:
    """Any thread may call its methods.

    Args:
        lanes: Where the messages are.
        weights: How the lanes share the leases.
        on_start: Called with the attempts that were leased."""

    def __init__(
        self,
        ports: Ports,
        lanes: RemoteLanes,
        weights: Weights,
        workers: RemoteWorkers,
        running: RunningAttempts,
        on_start: Callable[[Sequence[Run]], object],
    ) -> None:
        self._lanes = lanes
        self._weights = weights
        self._workers = workers
        self._running = running
        self._on_start = on_start
        self._clock = ports.clock
        self._lock = Lock()  # of all that follows: a repeated call waits for the first one's answer
        self._shares: dict[str | None, Shares] = {}
        self._answers: OrderedDict[tuple[str, str], _Answered] = OrderedDict()

    def has_work(self, wanted: LeaseRequest, beside: int = 0) -> bool:
        """Whether a call for leases may get one. `beside` are leases that others get first."""
        names = frozenset(wanted.handlers)
        ready = self._lanes.ready_for(wanted.pool, wanted.lanes, names, beside + 1)
        return sum(ready.values()) > beside

    def next_visible(self, wanted: LeaseRequest) -> Millis | None:
        """Returns when the next message becomes visible that such a call may get."""
        return self._lanes.next_visible_for(wanted.pool, wanted.lanes, frozenset(wanted.handlers))

    def lease(self, wanted: LeaseRequest) -> list[Leased]:
        """Leases what is due. Raises Refusal if the name of the call was used for another one."""
        with self._lock:
            known = self._known_answer(wanted)
            if known is not None:
                return known
            worker = self._workers.note_request(wanted)
            leased = self._lease(wanted, worker)
            if leased:
                holders = [each.holder for each in leased]
                answered = _Answered(wanted.body_hash, holders, self._clock.monotonic())
                self._answers[wanted.worker, wanted.request] = answered
            return leased

    def _known_answer(self, wanted: LeaseRequest) -> list[Leased] | None:
        before = self._clock.monotonic() - ANSWERS_KEPT
        while self._answers and next(iter(self._answers.values())).at < before:
            self._answers.popitem(last=False)
        answered = self._answers.get((wanted.worker, wanted.request))
        if answered is None:
            return None
        if answered.body_hash != wanted.body_hash:
            detail = "The request was sent before, with another body: give this one a new ULID."
            raise Refusal(409, "request-reused", "The request is used for something else", detail)
        return self._running.leased(answered.holders)

    def _lease(self, wanted: LeaseRequest, worker: RemoteWorker) -> list[Leased]:
        leased: list[Leased] = []
        room = ANSWER_LIMIT
        while len(leased) < wanted.most:
            runs = worker.executor.lease(self._take(wanted, min(wanted.most - len(leased), BATCH)))
            if not runs:
                break
            self._on_start(runs)
            too_large = []
            for run, each in self._prepared(worker, runs):
                size = len(to_json(each.task.spec.payload).encode())
                if leased and size > room:
                    too_large.append(run)
                    continue
                room -= size
                leased.append(each)
                self._running.begin(run, worker, each)
            if too_large:  # the next answer has them
                self._give_back(worker, too_large)
                break
        return leased

    def _take(self, wanted: LeaseRequest, limit: int) -> list[Message]:
        names = frozenset(wanted.handlers)
        ready = self._lanes.ready_for(wanted.pool, wanted.lanes, names, limit)
        shares = self._shares.setdefault(wanted.pool, Shares(self._weights))
        messages: list[Message] = []
        for lane, count in shares.hand_out(limit, ready).items():
            messages += self._lanes.take_for(Queue(lane, wanted.pool), names, count)
        return messages

    def _prepared(self, worker: RemoteWorker, runs: Sequence[Run]) -> list[tuple[Run, Leased]]:
        """Returns what the worker needs of each run. A run without it has failed."""
        found: list[tuple[Run, Leased]] = []
        ends: list[Ended] = []
        for run in runs:
            try:
                task = worker.executor.prepare(run)
                previous = run.context.previous
            except Exception as error:  # noqa: BLE001 - it fails the attempt, as in the runner
                ends.append(failed(run, error))
                continue
            leased = Leased(
                task=task,
                holder=run.holder,
                lease_until=run.task.lease_until or 0,
                leased_at=run.control.renewed_at,
                previous=_previous_json(previous),
            )
            found.append((run, leased))
        if ends:
            worker.executor.record(ends)
        return found

    def _give_back(self, worker: RemoteWorker, runs: Sequence[Run]) -> None:
        worker.executor.record([Ended(run=run, failure=INTERRUPTED) for run in runs])


def _previous_json(previous: Previous | None) -> dict[str, Any] | None:
    if previous is None:
        return None
    return asdict(previous) | {"scheduled_for": previous.scheduled_for.isoformat()}
