"""The outcomes that HTTP workers report.

A report that is repeated gets the answer of the first one, from memory or, after a restart of the
runner, from the task itself.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from duetime.core.change import Answer, Applied, Refused
from duetime.core.lifecycle import Outcome, Status
from duetime.core.ports import Ports
from duetime.core.task import Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.worker_calls import OUTCOMES_KEPT, Recorded, Report
from duetime.engine.refusal import Refusal
from duetime.executor.remote_workers import RemoteWorkers
from duetime.executor.running_attempts import RemoteAttempt, RunningAttempts, lost, unanswered
from duetime.executor.runs import Ended

MAX_OUTCOMES_KEPT = 100_000


@value(frozen=True, slots=True)
class _Ended:
    outcome: Outcome
    recorded: Recorded
    at: Millis


class RemoteOutcomes:
    """Any thread may call its methods."""

    def __init__(self, ports: Ports, workers: RemoteWorkers, running: RunningAttempts) -> None:
        self._store = ports.store
        self._clock = ports.clock
        self._workers = workers
        self._running = running
        self._lock = Lock()
        self._ended: OrderedDict[str, _Ended] = OrderedDict()  # by holder

    def record(self, worker: str, reports: Sequence[Report]) -> list[Recorded | Refusal]:
        executor = self._workers.note_call(worker)
        attempts = self._running.find(worker, [(each.task_id, each.holder) for each in reports])
        answers: dict[int, Recorded | Refusal] = {}
        ends: dict[int, Ended] = {}
        taken: set[str] = set()
        for place, (attempt, report) in enumerate(zip(attempts, reports, strict=True)):
            if isinstance(attempt, Refusal):
                answers[place] = self._repeated(report) or attempt
            elif report.holder in taken:
                answers[place] = lost(report.task_id)
            elif refusal := self._not_requested(attempt, report):
                answers[place] = refusal
            else:
                taken.add(report.holder)
                ends[place] = self._end(attempt, report)
        recorded = executor.record([*ends.values()]) if ends else {}
        for place in ends:
            report = reports[place]
            answers[place] = self._recorded(report, recorded.get(report.holder))
        return [answers[place] for place in range(len(reports))]

    def _end(self, attempt: RemoteAttempt, report: Report) -> Ended:
        control = attempt.run.control
        if report.started_after is not None:
            control.started_after = report.started_after
        return Ended(run=attempt.run, result=report.result, failure=report.failure)

    def _not_requested(self, attempt: RemoteAttempt, report: Report) -> Refusal | None:
        if report.outcome is not Outcome.CANCELLED or attempt.run.control.cancel_requested:
            return None
        task = self._store.get([report.task_id]).get(report.task_id)
        if task is not None and task.cancel_requested and task.holder == report.holder:
            attempt.run.control.request_stop("cancelled")
            return None
        detail = "outcome: this task has no cancel request; report `failed` or `interrupted`"
        return Refusal(422, "invalid", "The request is not valid", detail)

    def _recorded(self, report: Report, answer: Answer | None) -> Recorded | Refusal:
        match answer:
            case Applied(task):
                return self._ended_with(report, task)
            case Refused(stored):
                self._running.forget(report.holder)
                return self._repeated_in(report, stored) or lost(report.task_id)
            case None:
                return unanswered("the outcome could not be written")
            case unknown:
                return unanswered(unknown.reason)

    def _ended_with(self, report: Report, task: Task) -> Recorded:
        recorded = Recorded(task_id=task.id, status=task.status.value)
        now = self._clock.monotonic()
        with self._lock:
            self._ended[report.holder] = _Ended(report.outcome, recorded, now)
            while self._ended and (
                next(iter(self._ended.values())).at < now - OUTCOMES_KEPT
                or len(self._ended) > MAX_OUTCOMES_KEPT
            ):
                self._ended.popitem(last=False)
        self._running.forget(report.holder)
        return recorded

    def _repeated(self, report: Report) -> Recorded | None:
        """Returns the answer to an outcome that the same holder has reported before."""
        with self._lock:
            ended = self._ended.get(report.holder)
        if ended is not None:
            same = (ended.recorded.task_id, ended.outcome) == (report.task_id, report.outcome)
            return ended.recorded if same else None
        return self._repeated_in(report, self._store.get([report.task_id]).get(report.task_id))

    def _repeated_in(self, report: Report, task: Task | None) -> Recorded | None:
        """As above, after a restart of the runner: from the task itself."""
        if task is None or task.holder != report.holder or task.status is Status.RUNNING:
            return None
        if task.current is None or task.current.outcome is not report.outcome:
            return None
        return Recorded(task_id=task.id, status=task.status.value)
