"""The attempts that HTTP workers run, by the holder of their lease.

A holder names its worker and has 128 random bits: without it, a call renews or ends no attempt.
"""

from collections import Counter
from collections.abc import Sequence
from threading import Lock

from duetime.core.lanes import Queue
from duetime.core.ports import Ports
from duetime.core.steps.lease import LENGTH, RETURN_TIME
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, Millis
from duetime.core.value import value
from duetime.core.worker_calls import Leased, holder_of
from duetime.core.workers import Running
from duetime.engine.refusal import Refusal
from duetime.executor.remote_executor import RemoteExecutor, is_held
from duetime.executor.remote_workers import RemoteWorker, RemoteWorkers
from duetime.executor.runs import Run

EXPIRY: Millis = LENGTH + CLOCK_SKEW  # of a lease that is not renewed


@value(slots=True)
class RemoteAttempt:
    run: Run
    worker: str
    executor: RemoteExecutor
    expires_at: Millis  # by the monotonic clock, unless it is renewed
    leased: Leased | None = None  # None: an earlier runner has leased it


class RunningAttempts:
    """Any thread may call its methods."""

    def __init__(self, ports: Ports, workers: RemoteWorkers) -> None:
        self._store = ports.store
        self._clock = ports.clock
        self._workers = workers
        self._lock = Lock()
        self._attempts: dict[str, RemoteAttempt] = {}  # by holder

    def begin(self, run: Run, worker: RemoteWorker, leased: Leased) -> RemoteAttempt:
        attempt = RemoteAttempt(
            run=run,
            worker=worker.record.name,
            executor=worker.executor,
            expires_at=run.control.renewed_at + EXPIRY,
            leased=leased,
        )
        with self._lock:
            self._attempts[run.holder] = attempt
        return attempt

    def adopt(self, task: Task) -> RemoteAttempt:
        """Notes an attempt that an earlier runner has leased."""
        worker = (task.holder or "").split(":")[1]
        executor = self._workers.executor(worker)
        attempt = RemoteAttempt(
            run=executor.resume(task),
            worker=worker,
            executor=executor,
            expires_at=self._clock.monotonic() + EXPIRY,
        )
        with self._lock:
            return self._attempts.setdefault(attempt.run.holder, attempt)

    def watch(self, tasks: Sequence[Task]) -> None:
        """Notes attempts that an earlier runner has leased, which end when the lease in the store
        does."""
        now = self._clock.monotonic()
        for task in tasks:
            attempt = self.adopt(task)
            left = (task.lease_until or 0) + CLOCK_SKEW - self._clock.now()
            attempt.expires_at = now + max(left, RETURN_TIME)

    def forget(self, holder: str) -> None:
        with self._lock:
            self._attempts.pop(holder, None)

    def leased(self, holders: Sequence[str]) -> list[Leased]:
        """Returns what workers got with the leases of these holders that still run."""
        with self._lock:
            attempts = [self._attempts.get(holder) for holder in holders]
        return [attempt.leased for attempt in attempts if attempt and attempt.leased]

    def find(self, worker: str, leases: Sequence[tuple[str, str]]) -> list[RemoteAttempt | Refusal]:
        """Returns the attempts by task id and holder. One that is not known here may be of an
        earlier runner: then the store knows its holder. Raises Unavailable."""
        with self._lock:
            known = [self._attempts.get(holder) for _, holder in leases]
        missing = [i for (i, _), attempt in zip(leases, known, strict=True) if attempt is None]
        tasks = self._store.get(missing) if missing else {}
        found: list[RemoteAttempt | Refusal] = []
        for (task_id, holder), attempt in zip(leases, known, strict=True):
            if not is_of(holder, worker):
                found.append(lost(task_id))
            elif attempt is not None and attempt.run.task.id == task_id:
                found.append(attempt)
            elif attempt is None and (task := tasks.get(task_id)) and is_held(task, holder):
                found.append(self.adopt(task))
            else:
                found.append(lost(task_id))
        return found

    def expired(self, now: Millis) -> list[RemoteAttempt]:
        with self._lock:
            return [attempt for attempt in self._attempts.values() if attempt.expires_at < now]

    def by_queue(self) -> Counter[Queue]:
        with self._lock:
            return Counter(attempt.run.message.queue for attempt in self._attempts.values())

    def by_worker(self) -> list[tuple[str, Running]]:
        with self._lock:
            attempts = [*self._attempts.values()]
        return [(attempt.worker, _running(attempt.run.task)) for attempt in attempts]


def _running(task: Task) -> Running:
    return Running(task.id, task.current.started_at if task.current else task.updated_at)


def is_of(holder: str, worker: str) -> bool:
    return holder.startswith(holder_of(worker, ""))


def lost(task_id: str) -> Refusal:
    detail = f"Task {task_id} is not leased by this holder: its attempt has ended, or another runs."
    return Refusal(409, "lease-lost", "The lease is lost", detail)


def unanswered(reason: str) -> Refusal:
    detail = f"The store did not answer: {reason}. Send it again."
    return Refusal(503, "unavailable", "Try again", detail)
