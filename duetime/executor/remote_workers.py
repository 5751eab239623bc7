"""The HTTP workers of a runner, known by their calls."""

from collections.abc import Iterable
from threading import Lock

from duetime.core.ports import Ports
from duetime.core.times import Millis
from duetime.core.value import replace, value
from duetime.core.worker_calls import LeaseRequest
from duetime.core.workers import LIVE_FOR, Running, WorkerRecord
from duetime.executor.remote_executor import RemoteExecutor


@value(slots=True)
class RemoteWorker:
    record: WorkerRecord
    executor: RemoteExecutor
    seen_at: Millis  # by the monotonic clock


class RemoteWorkers:
    """Any thread may call its methods."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._clock = ports.clock
        self._lock = Lock()
        self._workers: dict[str, RemoteWorker] = {}

    def note_request(self, wanted: LeaseRequest) -> RemoteWorker:
        """Notes a worker that asks for leases, and what it runs."""
        now = self._clock.now()
        with self._lock:
            known = self._workers.get(wanted.worker)
            record = WorkerRecord(
                name=wanted.worker,
                since=known.record.since if known else now,
                seen=now,
                backend="http",
                pool=wanted.pool,
                lanes=wanted.lanes,
                handlers=wanted.handlers,
                concurrency=wanted.concurrency,
                host=wanted.host,
                version=wanted.version,
            )
            executor = known.executor if known else RemoteExecutor(self._ports, wanted.worker)
            worker = RemoteWorker(record, executor, self._clock.monotonic())
            self._workers[wanted.worker] = worker
            return worker

    def note_call(self, name: str, *, draining: bool = False) -> RemoteExecutor:
        """Notes a call of a worker for attempts that it runs. Returns the executor of these. A
        worker that has not asked this runner for leases is not noted."""
        now = self._clock.now()
        with self._lock:
            if worker := self._workers.get(name):
                draining = draining or worker.record.draining
                worker.record = replace(worker.record, seen=now, draining=draining)
                worker.seen_at = self._clock.monotonic()
        return self.executor(name)

    def executor(self, name: str) -> RemoteExecutor:
        with self._lock:
            known = self._workers.get(name)
        return known.executor if known else RemoteExecutor(self._ports, name)

    def remove(self, name: str) -> None:
        with self._lock:
            self._workers.pop(name, None)

    def alive(self, running: Iterable[tuple[str, Running]]) -> list[WorkerRecord]:
        """Returns the workers that have called lately, by name, with what each of them runs."""
        since = self._clock.monotonic() - LIVE_FOR
        with self._lock:
            self._workers = {n: w for n, w in self._workers.items() if w.seen_at >= since}
            found = {name: worker.record for name, worker in self._workers.items()}
        by_worker: dict[str, list[Running]] = {}
        for name, one in running:
            by_worker.setdefault(name, []).append(one)
        return [
            replace(found[name], running=tuple(sorted(by_worker.get(name, ()))))
            for name in sorted(found)
        ]
