"""The attempts of the HTTP workers of a runner: which there are, and what their workers ask for.

A lease is in the store, and what is kept here can be made from it again, so a restart of the runner
ends no attempt. A worker names its lease by the holder, which has 128 random bits: without it,
nobody renews or ends the attempt.
"""

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock
from typing import Any, Protocol

from duetime.core.change import Answer, Applied, Refused
from duetime.core.codec import to_json
from duetime.core.delivery import Message
from duetime.core.lanes import Lane, Queue
from duetime.core.lifecycle import Outcome, Status
from duetime.core.ports import Ports
from duetime.core.shares import Shares, Weights
from duetime.core.steps import lease
from duetime.core.steps.record import INTERRUPTED
from duetime.core.task import Task
from duetime.core.times import CLOCK_SKEW, SECOND, Millis
from duetime.core.value import replace, value
from duetime.core.worker_calls import (
    ANSWER_LIMIT,
    ANSWERS_KEPT,
    OUTCOMES_KEPT,
    Leased,
    LeaseRequest,
    Recorded,
    Renewal,
    Renewed,
    Report,
    holder_of,
)
from duetime.core.workers import LIVE_FOR, Running, WorkerRecord
from duetime.engine.refusal import Refusal
from duetime.executor.remote_executor import RemoteExecutor, is_held
from duetime.executor.runs import Ended, Run, failed
from duetime.handlers.context import Previous

BATCH = 25  # leases that are taken together: their payloads may be large
MAX_OUTCOMES_KEPT = 100_000
EXPIRY: Millis = lease.LENGTH + CLOCK_SKEW  # of a lease that is not renewed

log = logging.getLogger(__name__)


class RemoteLanes(Protocol):
    """Lanes from which messages are taken for some handlers only."""

    def ready_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: frozenset[str], limit: int
    ) -> Mapping[Lane, int]: ...

    def take_for(self, queue: Queue, handlers: frozenset[str], limit: int) -> list[Message]: ...

    def next_visible_for(
        self, pool: str | None, lanes: Sequence[Lane], handlers: frozenset[str]
    ) -> Millis | None: ...


@value(slots=True)
class _Attempt:
    run: Run
    worker: str
    executor: RemoteExecutor
    expires_at: Millis  # by the monotonic clock, unless it is renewed
    leased: Leased | None = None  # None: an earlier runner has leased it


@value(slots=True)
class _Worker:
    record: WorkerRecord
    executor: RemoteExecutor
    seen_at: Millis  # by the monotonic clock


@value(frozen=True, slots=True)
class _Answered:
    body_hash: str
    holders: Sequence[str]
    at: Millis


@value(frozen=True, slots=True)
class _Ended:
    outcome: Outcome
    recorded: Recorded
    at: Millis


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
        self._ports = ports
        self._lanes = lanes
        self._weights = weights
        self._on_start = on_start
        self._on_progress = on_progress
        self._clock = ports.clock
        self._leasing = Lock()  # a repeated call waits for the answer to the first
        self._lock = Lock()  # of what follows
        self._workers: dict[str, _Worker] = {}
        self._shares: dict[str | None, Shares] = {}
        self._attempts: dict[str, _Attempt] = {}  # by holder
        self._answers: OrderedDict[tuple[str, str], _Answered] = OrderedDict()
        self._ended: OrderedDict[str, _Ended] = OrderedDict()  # by holder

    # leases

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
        with self._leasing:
            known = self._known_answer(wanted)
            if known is not None:
                return known
            worker = self._met(wanted)
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
        with self._lock:
            attempts = [self._attempts.get(holder) for holder in answered.holders]
        return [attempt.leased for attempt in attempts if attempt and attempt.leased]

    def _lease(self, wanted: LeaseRequest, worker: _Worker) -> list[Leased]:
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
                self._begin(run, worker, each)
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

    def _prepared(self, worker: _Worker, runs: Sequence[Run]) -> list[tuple[Run, Leased]]:
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

    def _give_back(self, worker: _Worker, runs: Sequence[Run]) -> None:
        worker.executor.record([Ended(run=run, failure=INTERRUPTED) for run in runs])

    def _begin(self, run: Run, worker: _Worker, leased: Leased | None) -> _Attempt:
        attempt = _Attempt(
            run=run,
            worker=worker.record.name,
            executor=worker.executor,
            expires_at=run.control.renewed_at + EXPIRY,
            leased=leased,
        )
        with self._lock:
            self._attempts[run.holder] = attempt
        return attempt

    # renewals

    def renew(
        self, worker: str, renewals: Sequence[Renewal], *, draining: bool = False
    ) -> list[Renewed | Refusal]:
        self._seen(worker, draining=draining)
        asked_at = self._clock.monotonic()
        attempts = self._find(worker, [(each.task_id, each.holder) for each in renewals])
        pairs = [(a, r) for a, r in zip(attempts, renewals, strict=True) if isinstance(a, _Attempt)]
        answers = self._executor(worker).renew_each([(a.run, r.progress) for a, r in pairs])
        renewed: dict[str, Renewed | Refusal] = {}
        for (attempt, renewal), answer in zip(pairs, answers, strict=True):
            renewed[renewal.holder] = self._renewed(attempt, renewal, answer, asked_at)
        return [
            renewed[renewal.holder] if isinstance(attempt, _Attempt) else attempt
            for attempt, renewal in zip(attempts, renewals, strict=True)
        ]

    def _renewed(
        self, attempt: _Attempt, renewal: Renewal, answer: Answer, asked_at: Millis
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
                return _lost(renewal.task_id)
            case unknown:
                return _unanswered(unknown.reason)

    # outcomes

    def record(self, worker: str, reports: Sequence[Report]) -> list[Recorded | Refusal]:
        self._seen(worker)
        attempts = self._find(worker, [(each.task_id, each.holder) for each in reports])
        answers: dict[int, Recorded | Refusal] = {}
        ends: dict[int, Ended] = {}
        taken: set[str] = set()
        for place, (attempt, report) in enumerate(zip(attempts, reports, strict=True)):
            if isinstance(attempt, Refusal):
                answers[place] = self._repeated(report) or attempt
            elif report.holder in taken:
                answers[place] = _lost(report.task_id)
            elif refusal := self._not_requested(attempt, report):
                answers[place] = refusal
            else:
                taken.add(report.holder)
                ends[place] = self._end(attempt, report)
        recorded = self._executor(worker).record([*ends.values()]) if ends else {}
        for place in ends:
            report = reports[place]
            answers[place] = self._recorded(report, recorded.get(report.holder))
        return [answers[place] for place in range(len(reports))]

    def _end(self, attempt: _Attempt, report: Report) -> Ended:
        control = attempt.run.control
        if report.started_after is not None:
            control.started_after = report.started_after
        return Ended(run=attempt.run, result=report.result, failure=report.failure)

    def _not_requested(self, attempt: _Attempt, report: Report) -> Refusal | None:
        if report.outcome is not Outcome.CANCELLED or attempt.run.control.cancel_requested:
            return None
        task = self._ports.store.get([report.task_id]).get(report.task_id)
        if task is not None and task.cancel_requested and task.holder == report.holder:
            attempt.run.control.request_stop("cancelled")
            return None
        detail = "outcome: nobody has asked to cancel this task; report `failed` or `interrupted`"
        return Refusal(422, "invalid", "The request is not valid", detail)

    def _recorded(self, report: Report, answer: Answer | None) -> Recorded | Refusal:
        match answer:
            case Applied(task):
                return self._ended_with(report, task)
            case Refused(stored):
                self._forget(report.holder)
                return self._repeated_in(report, stored) or _lost(report.task_id)
            case None:
                return _unanswered("the outcome could not be written")
            case unknown:
                return _unanswered(unknown.reason)

    def _ended_with(self, report: Report, task: Task) -> Recorded:
        recorded = Recorded(task_id=task.id, status=task.status.value)
        now = self._clock.monotonic()
        with self._lock:
            self._attempts.pop(report.holder, None)
            self._ended[report.holder] = _Ended(report.outcome, recorded, now)
            while self._ended and (
                next(iter(self._ended.values())).at < now - OUTCOMES_KEPT
                or len(self._ended) > MAX_OUTCOMES_KEPT
            ):
                self._ended.popitem(last=False)
        return recorded

    def _repeated(self, report: Report) -> Recorded | None:
        """Returns the answer to an outcome that the same holder has reported before."""
        with self._lock:
            ended = self._ended.get(report.holder)
        if ended is not None:
            same = (ended.recorded.task_id, ended.outcome) == (report.task_id, report.outcome)
            return ended.recorded if same else None
        return self._repeated_in(
            report, self._ports.store.get([report.task_id]).get(report.task_id)
        )

    def _repeated_in(self, report: Report, task: Task | None) -> Recorded | None:
        """As above, after a restart of the runner: from the task itself."""
        if task is None or task.holder != report.holder or task.status is Status.RUNNING:
            return None
        if task.current is None or task.current.outcome is not report.outcome:
            return None
        return Recorded(task_id=task.id, status=task.status.value)

    # children

    def parent(self, worker: str, task_id: str, holder: str) -> Task | Refusal:
        """Returns the task that submits others. Raises Unavailable."""
        self._seen(worker)
        task = self._ports.store.get([task_id]).get(task_id)
        if task is None or not is_held(task, holder) or not _is_of(holder, worker):
            return _lost(task_id)
        return task

    # workers and their leases

    def put(self, record: WorkerRecord) -> None:
        """Does nothing: a worker is known by its calls."""

    def remove(self, name: str) -> None:
        with self._lock:
            self._workers.pop(name, None)

    def running_by_queue(self) -> Counter[Queue]:
        with self._lock:
            return Counter(attempt.run.message.queue for attempt in self._attempts.values())

    def adopt(self, tasks: Sequence[Task]) -> None:
        """Watches the leases that an earlier runner has granted."""
        now = self._clock.monotonic()
        for task in tasks:
            attempt = self._adopt(task)
            left = (task.lease_until or 0) + CLOCK_SKEW - self._clock.now()
            attempt.expires_at = now + max(left, lease.RETURN_TIME)

    def end_expired(self) -> None:
        """Ends the attempts whose leases have run out, so that they are retried at once. The watch
        in the store does the same at the next tick, if the runner has died meanwhile."""
        now = self._clock.monotonic()
        with self._lock:
            over = [attempt for attempt in self._attempts.values() if attempt.expires_at < now]
        if not over:
            return
        tasks = self._ports.store.get([attempt.run.task.id for attempt in over])
        for attempt in over:
            run, task = attempt.run, tasks.get(attempt.run.task.id)
            if task is not None and is_held(task, run.holder):
                if not lease.run_out(task.lease_until, self._clock.now()):
                    attempt.expires_at = now + SECOND  # the clock was set back, or it was renewed
                    continue
                fields = {"step": "watch", "task_id": task.id, "attempt": task.attempt}
                log.warning("lease run out", extra={**fields, "worker": attempt.worker})
            if attempt.executor.end(run, task):
                self._forget(run.holder)

    def _met(self, wanted: LeaseRequest) -> _Worker:
        """Notes a worker that asks for leases, and says what it runs."""
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
            worker = _Worker(record, executor, self._clock.monotonic())
            self._workers[wanted.worker] = worker
            return worker

    def met(self, wanted: LeaseRequest) -> None:
        """Notes a worker that waits for leases."""
        self._met(wanted)

    def _seen(self, name: str, *, draining: bool = False) -> None:
        now = self._clock.now()
        with self._lock:
            if worker := self._workers.get(name):
                worker.record = _seen_at(worker.record, now, draining=draining)
                worker.seen_at = self._clock.monotonic()

    def _executor(self, worker: str) -> RemoteExecutor:
        with self._lock:
            known = self._workers.get(worker)
        return known.executor if known else RemoteExecutor(self._ports, worker)

    def _find(self, worker: str, leases: Sequence[tuple[str, str]]) -> list[_Attempt | Refusal]:
        """Returns the attempts by task id and holder. One that is not known here may be of an
        earlier runner: then the store knows its holder. Raises Unavailable."""
        with self._lock:
            known = [self._attempts.get(holder) for _, holder in leases]
        missing = [i for (i, _), attempt in zip(leases, known, strict=True) if attempt is None]
        tasks = self._ports.store.get(missing) if missing else {}
        found: list[_Attempt | Refusal] = []
        for (task_id, holder), attempt in zip(leases, known, strict=True):
            if not _is_of(holder, worker):
                found.append(_lost(task_id))
            elif attempt is not None and attempt.run.task.id == task_id:
                found.append(attempt)
            elif attempt is None and (task := tasks.get(task_id)) and is_held(task, holder):
                found.append(self._adopt(task))
            else:
                found.append(_lost(task_id))
        return found

    def _adopt(self, task: Task) -> _Attempt:
        worker = (task.holder or "").split(":")[1]
        executor = self._executor(worker)
        attempt = _Attempt(
            run=executor.resume(task),
            worker=worker,
            executor=executor,
            expires_at=self._clock.monotonic() + EXPIRY,
        )
        with self._lock:
            return self._attempts.setdefault(attempt.run.holder, attempt)

    def _forget(self, holder: str) -> None:
        with self._lock:
            self._attempts.pop(holder, None)

    def list(self, now: Millis) -> Sequence[WorkerRecord]:  # noqa: ARG002
        """Returns the workers that are alive: see duetime.core.workers.WorkerStore."""
        since = self._clock.monotonic() - LIVE_FOR
        with self._lock:
            self._workers = {n: w for n, w in self._workers.items() if w.seen_at >= since}
            found = dict(self._workers)
            attempts = [*self._attempts.values()]
        running: dict[str, list[Running]] = {}
        for attempt in attempts:
            task = attempt.run.task
            at = task.current.started_at if task.current else task.updated_at
            running.setdefault(attempt.worker, []).append(Running(task.id, at))
        return [
            _with_running(found[name].record, sorted(running.get(name, ())))
            for name in sorted(found)
        ]


def _is_of(holder: str, worker: str) -> bool:
    return holder.startswith(holder_of(worker, ""))


def _lost(task_id: str) -> Refusal:
    detail = f"Task {task_id} is not leased by this holder: its attempt has ended, or another runs."
    return Refusal(409, "lease-lost", "The lease is lost", detail)


def _unanswered(reason: str) -> Refusal:
    detail = f"The store did not answer: {reason}. Send it again."
    return Refusal(503, "unavailable", "Try again", detail)


def _previous_json(previous: Previous | None) -> dict[str, Any] | None:
    if previous is None:
        return None
    return asdict(previous) | {"scheduled_for": previous.scheduled_for.isoformat()}


def _with_running(record: WorkerRecord, running: Sequence[Running]) -> WorkerRecord:
    return replace(record, running=tuple(running))


def _seen_at(record: WorkerRecord, now: Millis, *, draining: bool) -> WorkerRecord:
    return replace(record, seen=now, draining=draining or record.draining)
