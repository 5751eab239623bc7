"""The attempts of the HTTP workers of a runner: what their workers ask for.

1. `remote_leases.py` (`RemoteLeases`) takes messages, leases them and answers a worker.
2. `running_attempts.py` (`RunningAttempts`) has the leased attempts, `remote_workers.py`
   (`RemoteWorkers`) the workers; the I/O is in `remote_executor.py`.
3. A worker renews its leases and submits tasks by calls of `RemoteAttempts`, here.
4. `remote_outcomes.py` (`RemoteOutcomes`) records the outcome that it reports. A lease that is not
   renewed ends here.

A lease is in the store, and what these keep in memory can be made from it again, so a restart of
the runner ends no attempt.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence

from duetime.core.change import Answer, Applied, Refused
from duetime.core.lanes import Queue
from duetime.core.ports import Ports
from duetime.core.shares import Weights
from duetime.core.steps.lease import run_out
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.worker_calls import (
    Leased,
    LeaseRequest,
    Recorded,
    Renewal,
    Renewed,
    Report,
)
from duetime.core.workers import WorkerRecord
from duetime.engine.refusal import Refusal
from duetime.executor.remote_executor import is_held
from duetime.executor.remote_leases import RemoteLanes, RemoteLeases
from duetime.executor.remote_outcomes import RemoteOutcomes
from duetime.executor.remote_workers import RemoteWorkers
from duetime.executor.running_attempts import (
    EXPIRY,
    RemoteAttempt,
    RunningAttempts,
    is_of,
    lost,
    unanswered,
)
from duetime.executor.runs import Run

log = logging.getLogger(__name__)


class RemoteAttempts:
    """Any thread may call its methods.

    Args:
        lanes: Where the messages are.
        weights: How the lanes share the leases.
        on_start: Called with the attempts that were leased.
        on_progress: Called with a task whose worker has reported progress."""

    def __init__(
        self,
        ports: Ports,
        lanes: RemoteLanes,
        weights: Weights,
        *,
        on_start: Callable[[Sequence[Run]], object] = lambda _: None,
        on_progress: Callable[[Task], object] = lambda _: None,
    ) -> None:
        self._store = ports.store
        self._clock = ports.clock
        self._on_progress = on_progress
        self._workers = workers = RemoteWorkers(ports)
        self._running = running = RunningAttempts(ports, workers)
        self._leases = RemoteLeases(ports, lanes, weights, workers, running, on_start)
        self._outcomes = RemoteOutcomes(ports, workers, running)

    # calls

    def has_work(self, wanted: LeaseRequest, beside: int = 0) -> bool:
        """Whether a call for leases may get one. `beside` are leases that others get first."""
        return self._leases.has_work(wanted, beside)

    def next_visible(self, wanted: LeaseRequest) -> Millis | None:
        """Returns when the next message becomes visible that such a call may get."""
        return self._leases.next_visible(wanted)

    def note_waiting(self, wanted: LeaseRequest) -> None:
        """Notes a worker that waits for leases."""
        self._workers.note_request(wanted)

    def lease(self, wanted: LeaseRequest) -> list[Leased]:
        """Leases what is due. Raises Refusal if the name of the call was used for another one."""
        return self._leases.lease(wanted)

    def record(self, worker: str, reports: Sequence[Report]) -> list[Recorded | Refusal]:
        return self._outcomes.record(worker, reports)

    def parent(self, worker: str, task_id: str, holder: str) -> Task | Refusal:
        """Returns the task that submits others. Raises Unavailable."""
        self._workers.note_call(worker)
        task = self._store.get([task_id]).get(task_id)
        if task is None or not is_held(task, holder) or not is_of(holder, worker):
            return lost(task_id)
        return task

    def renew(
        self, worker: str, renewals: Sequence[Renewal], *, draining: bool = False
    ) -> list[Renewed | Refusal]:
        executor = self._workers.note_call(worker, draining=draining)
        asked_at = self._clock.monotonic()
        attempts = self._running.find(worker, [(each.task_id, each.holder) for each in renewals])
        pairs = [
            (a, r) for a, r in zip(attempts, renewals, strict=True) if isinstance(a, RemoteAttempt)
        ]
        answers = executor.renew_each([(a.run, r.progress) for a, r in pairs])
        renewed: dict[str, Renewed | Refusal] = {}
        for (attempt, renewal), answer in zip(pairs, answers, strict=True):
            renewed[renewal.holder] = self._renewed(attempt, renewal, answer, asked_at)
        return [
            renewed[renewal.holder] if isinstance(attempt, RemoteAttempt) else attempt
            for attempt, renewal in zip(attempts, renewals, strict=True)
        ]

    def _renewed(
        self, attempt: RemoteAttempt, renewal: Renewal, answer: Answer, asked_at: Millis
    ) -> Renewed | Refusal:
        match answer:
            case Applied(task):
                attempt.expires_at = asked_at + EXPIRY
                attempt.run.control.renewed_at = asked_at
                if task.cancel_requested:
                    attempt.run.control.request_stop("cancelled")
                if renewal.progress is not None:
                    self._on_progress(task)
                return Renewed(
                    task_id=task.id,
                    lease_until=task.lease_until or 0,
                    cancel_requested=task.cancel_requested,
                )
            case Refused():
                return lost(renewal.task_id)
            case unknown:
                return unanswered(unknown.reason)

    def running_by_queue(self) -> Counter[Queue]:
        return self._running.by_queue()

    # leases that end

    def adopt(self, tasks: Sequence[Task]) -> None:
        """Watches the leases that an earlier runner has granted."""
        self._running.watch(tasks)

    def end_expired(self) -> None:
        """Ends the attempts whose leases have run out, so that they are retried at once. The watch
        in the store does the same at the next tick, if the runner has died meanwhile."""
        now = self._clock.monotonic()
        over = self._running.expired(now)
        if not over:
            return
        tasks = self._store.get([attempt.run.task.id for attempt in over])
        for attempt in over:
            run, task = attempt.run, tasks.get(attempt.run.task.id)
            if task is not None and is_held(task, run.holder):
                if not run_out(task.lease_until, self._clock.now()):
                    attempt.expires_at = now + SECOND  # the clock was set back, or it was renewed
                    continue
                fields = {"step": "watch", "task_id": task.id, "attempt": task.attempt}
                log.warning("lease run out", extra={**fields, "worker": attempt.worker})
            if attempt.executor.end(run, task):
                self._running.forget(run.holder)

    # workers: see duetime.core.workers.WorkerStore

    def put(self, record: WorkerRecord) -> None:
        """Does nothing: a worker is known by its calls."""

    def remove(self, name: str) -> None:
        self._workers.remove(name)

    def list(self, now: Millis) -> Sequence[WorkerRecord]:  # noqa: ARG002
        """Returns the workers that are alive."""
        return self._workers.alive(self._running.by_worker())
