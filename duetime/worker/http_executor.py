"""The executor of an HTTP worker: what the attempt loop and the worker pool ask for, over HTTP.

A message of this worker is leased before it arrives. The loop measures its lease from a time that
is not later than the runner's, by this machine's monotonic clock, so the clocks of the machines may
differ.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, cast

from duetime.core.child_ids import call_of
from duetime.core.codec import canonical, from_json
from duetime.core.delivery import Message
from duetime.core.errors import Unavailable
from duetime.core.ports import Clock, Ports
from duetime.core.task import Progress, Task
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.executor.attempt_io import Written
from duetime.executor.new_tasks import NewTasks
from duetime.executor.run_control import RunControl
from duetime.executor.runs import Admitted, Ended, Run, log_fields
from duetime.executor.target_runner import TargetRunner
from duetime.executor.targets.python import handlers_in, run_handler
from duetime.handlers import registry
from duetime.handlers.defaults import with_defaults
from duetime.worker.leased_task import Lease
from duetime.worker.outbox import UNKNOWN, Outbox
from duetime.worker.runner_calls import CallRefused, NoAnswer, RunnerBusy, RunnerCalls

if TYPE_CHECKING:
    from duetime.executor.handler_processes.pool import HandlerProcesses

MAX_RENEWALS = 100  # of one call

Json = dict[str, Any]

log = logging.getLogger(__name__)


@value(frozen=True, kw_only=True, slots=True)
class _WorkerPorts:
    """What the target runner reads of the ports. Other parts of them are for the steps of
    workflows, which the runner runs itself."""

    clock: Clock
    objects: None = None


class HttpExecutor:
    """`on_refused` is called if the runner refuses this worker."""

    def __init__(
        self, calls: RunnerCalls, clock: Clock, processes: "HandlerProcesses | None" = None
    ) -> None:
        self._calls = calls
        self._clock = clock
        self.on_refused: Callable[[CallRefused], object] = lambda _: None
        self._leases: dict[str, Lease] = {}  # by holder, until they start
        self._lock = Lock()
        self.outbox = Outbox(calls, clock, self._refused)
        ports = cast("Ports", _WorkerPorts(clock=clock))
        python = handlers_in(processes) if processes else run_handler
        self.targets = TargetRunner(ports, {"python": python}, processes=processes)
        self.draining = False  # shown by the runner

    def start(self) -> None:
        self.outbox.start()

    def close(self, timeout: float) -> int:
        """Reports what has ended. Returns how many outcomes could not be reported."""
        return self.outbox.close(timeout)

    def leased(self, leases: Sequence[Lease]) -> None:
        """Takes leases before their messages are offered to the pool."""
        with self._lock:
            self._leases.update((lease.message.receipt, lease) for lease in leases)

    def _refused(self, error: CallRefused) -> None:
        self.on_refused(error)

    # what the attempt loop asks for

    def admit(self, messages: Sequence[Message], until: Millis | None = None) -> list[Message]:  # noqa: ARG002
        return list(messages)

    def record_and_lease(
        self,
        *,
        ended: Sequence[Ended] = (),
        due: Sequence[Admitted] = (),
        new: Sequence[NewTasks] = (),  # noqa: ARG002 - the runner stores new tasks
    ) -> Written:
        if ended:
            self.outbox.put([_outcome_json(end) for end in ended])
        return Written(started=[self._start(admitted.message) for admitted in due])

    def hand_back(self, messages: Sequence[Message]) -> None:
        """The runner has leased them, so it gets them back as interrupted attempts. One may have
        been started here, too late to begin."""
        with self._lock:
            for message in messages:
                self._leases.pop(message.receipt, None)
        self.outbox.put([_interrupted_json(message) for message in messages])

    def hand_back_with_backoff(self, message: Message) -> None:
        self.hand_back([message])

    def abandon_outcome(self, end: Ended) -> None:
        """Never called: the outbox repeats what is not answered."""
        log.error("outcome lost", extra=log_fields(end.run))

    def run_target(self, run: Run) -> Ended:
        return self.targets.run(run)

    def hand_over(self, run: Run, on_end: Callable[[Ended], object]) -> bool:
        return self.targets.hand_over(run, on_end)

    def renew(self, runs: Iterable[Run], progress: Progress | None = None) -> None:
        left = list(runs)
        while left:
            batch, left = left[:MAX_RENEWALS], left[MAX_RENEWALS:]
            self._renew(batch, progress)

    def _renew(self, runs: Sequence[Run], progress: Progress | None) -> None:
        sent_at = self._clock.monotonic()
        shown = {} if progress is None else {"progress": asdict(progress)}
        leases = [{"id": run.task.id, "holder": run.holder, **shown} for run in runs]
        try:
            results = self._calls.renew(leases, draining=self.draining)
        except CallRefused as error:
            self.on_refused(error)
            return
        except (NoAnswer, RunnerBusy) as error:  # see AttemptLoop.check_leases
            log.info("leases not renewed: %s", error, extra={"step": "renew"})
            return
        for run, result in zip(runs, results, strict=True):
            if result["status"] == 200:
                run.control.renewed_at = sent_at
                if result["cancel_requested"]:
                    run.control.request_stop("cancelled")
            elif result["status"] == 409:
                run.control.lose_lease()
            else:
                reason = result["error"].get("detail")
                log.info("lease not renewed: %s", reason, extra=log_fields(run, "renew"))

    def _start(self, message: Message) -> Run:
        with self._lock:
            lease = self._leases.pop(message.receipt)
        task = lease.task
        control = RunControl(
            task,
            lambda progress: self.renew([run], progress),
            lambda: lease.previous,
            read_results=_no_results,
            leased_at=lease.leased_at,
            children=RemoteChildren(self._calls, task),
        )
        run = Run(task=task, message=message, control=control)
        return run


class RemoteChildren:
    """The tasks that a handler submits, through the runner."""

    def __init__(self, calls: RunnerCalls, parent: Task) -> None:
        self._calls = calls
        self._parent = parent
        self._counts: dict[str, int] = {}  # of equal submissions of this attempt
        self._lock = Lock()

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Returns an answer to each task. Raises Unavailable if the runner or its store does not
        answer; the next attempt finds what it has stored by then."""
        bodies = [{**_with_defaults(task), "ordinal": self._ordinal(task)} for task in tasks]
        try:
            results = self._calls.submit(self._parent.id, self._parent.holder or "", bodies)
        except (NoAnswer, RunnerBusy) as error:
            raise Unavailable(str(error)) from None
        except CallRefused as error:
            raise Unavailable(f"the runner refuses the submission: {error}") from None
        return [_answer(result) for result in results]

    def read(self, task_id: str) -> NoReturn:  # noqa: ARG002
        raise RuntimeError("an HTTP worker reads no other tasks: use duetime.Client")

    def _ordinal(self, task: Mapping[str, Any]) -> int:
        call = canonical(call_of(task.get("step"), task["target"]["handler"], task.get("payload")))
        with self._lock:
            before = self._counts.get(call, 0)
            self._counts[call] = before + 1
        return before


def _with_defaults(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the fields with the defaults of the handler, if this worker has it."""
    handler = registry.find(fields["target"]["handler"])
    return with_defaults(fields, handler.defaults) if handler else fields


def _answer(result: Json) -> Json:
    """Raises Unavailable if it is not known whether the child is stored."""
    if "task" in result:
        return result
    if result["status"] == UNKNOWN:
        raise Unavailable(result["error"]["detail"])
    problem = {"detail": None, "errors": [], "retry_after": None, **result["error"]}
    return {"status": result["status"], "error": problem}


def _no_results(step: str, start: int) -> NoReturn:  # noqa: ARG001
    raise RuntimeError("only steps of a workflow have results to read, and the runner runs those")


def _interrupted_json(message: Message) -> Json:
    return {"id": message.delivery.task_id, "holder": message.receipt, "outcome": "interrupted"}


def _outcome_json(end: Ended) -> Json:
    run, failure = end.run, end.failure
    started = run.control.started_after
    fields: Json = {
        "id": run.task.id,
        "holder": run.holder,
        "outcome": end.name,
        "started_after": None if started is None else started / SECOND,
    }
    if failure is None:
        return {**fields, "result": None if end.result is None else from_json(end.result)}
    error = failure.error
    fields["error"] = {"type": error.type, "message": error.message, "traceback": error.traceback}
    if failure.permanent:
        fields["permanent"] = True
    if failure.limited is not None:
        fields["limited"] = failure.limited
    if failure.retry_after is not None:
        fields["retry_after"] = failure.retry_after / SECOND
    if failure.delay is not None and end.name in ("failed", "snoozed"):
        fields["delay"] = failure.delay / SECOND
    return fields
