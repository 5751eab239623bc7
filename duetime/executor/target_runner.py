"""The execute step: runs the target of one leased attempt, in a worker thread or, if there are
handler processes, in one of those.

Before the target, the runner completes the task with what its row only refers to: the fields of
the previous run and a large payload. After it, the runner encodes the result.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from duetime import tracing
from duetime.core.errors import AskedForDelay, BadResult, Snooze, Stopped, Unavailable
from duetime.core.large_texts import reference_in
from duetime.core.ports import Ports
from duetime.core.results import encode_result, is_large
from duetime.core.suspension import Suspension
from duetime.core.task import WORKFLOW, Task
from duetime.core.times import Millis
from duetime.core.value import replace
from duetime.executor.runs import Ended, Run, failed, log_fields, stopped, unreported
from duetime.executor.targets import TargetFailed, Targets
from duetime.handlers import registry
from duetime.logs import task_context as task_log

if TYPE_CHECKING:
    from duetime.executor.handler_processes.pool import HandlerProcesses
    from duetime.executor.handler_processes.returned import Returned
    from duetime.tracing.otel import Spans

PREVIOUS_RUN_RETRY_DELAY = 5.0  # seconds, after the previous run could not be read

log = logging.getLogger(__name__)


class TargetRunner:
    """Holds no state of a run, so every worker thread can use the same one."""

    def __init__(
        self,
        ports: Ports,
        targets: Targets,
        callback_url: str | None = None,
        processes: "HandlerProcesses | None" = None,
    ) -> None:
        self._ports = ports
        self._processes = processes
        self._callback_url = callback_url
        self._clock = ports.clock
        self._objects = ports.objects
        self._targets = targets

    def run(self, run: Run) -> Ended:
        """Run the target. Every exception that it raises fails the attempt, not the executor."""
        token = task_log.begin(run.task)
        try:
            spans = tracing.spans()
            return self._run(run) if spans is None else self._traced(run, spans)
        except BaseException:  # noqa: BLE001 - without an outcome its slot would never be free
            return unreported(run)
        finally:
            task_log.end(token)

    def hand_over(self, run: Run, on_end: Callable[[Ended], object]) -> bool:
        """Have a handler process run the target, if nothing else is to be read or written for it
        here. Returns False if it is to run in a worker thread."""
        processes = self._processes
        if processes is None or tracing.spans() is not None or not _is_plain(run.task):
            return False
        handler = registry.find(run.task.spec.target["handler"])
        if handler is None or handler.isolated:
            return False

        def on_return(returned: "Returned") -> None:
            if returned.result is None or not is_large(returned.result) or self._objects is None:
                on_end(self._returned(run, returned))
            else:  # it is stored first, which takes long
                act = lambda: on_end(self._returned(run, returned))  # noqa: E731
                threading.Thread(target=act, name="large-result", daemon=True).start()

        try:
            processes.call(run.task, handler.__module__, run.control, on_return)
        except BaseException as error:  # noqa: BLE001 - a run that was stopped before it began
            on_end(self._ended(run, partial(_raise, error)))
        return True

    def _returned(self, run: Run, returned: "Returned") -> Ended:
        end = self._ended(run, lambda: self._encoded(run.task, returned.value()))
        trace = returned.failure.error.traceback if returned.failure else None
        if not returned.stopped or end.failure is None or trace is None:
            return end
        error = replace(end.failure.error, traceback=trace)
        return replace(end, failure=replace(end.failure, error=error))

    def _traced(self, run: Run, spans: "Spans") -> Ended:
        with spans.execute(run.task, self._clock.now()) as span:
            run.control.trace = span.packed
            end = self._run(run)
            span.end(end.name, end.error_type, _drift(run))
            return end

    def prepare(self, run: Run) -> Task:
        """Returns the task with what its row only refers to. Raises as a target does."""
        return self._with_payload(_filled_in(run))

    def _run(self, run: Run) -> Ended:
        return self._ended(run, lambda: self._outcome(run))

    def _outcome(self, run: Run) -> str | Suspension | None:
        task = self.prepare(run)
        value = self._value(task, run)
        return value if isinstance(value, Suspension) else self._encoded(task, value)

    def _ended(self, run: Run, act: Callable[[], str | Suspension | None]) -> Ended:
        """Returns the end with the result that `act` returns, or with the failure that it
        raises."""
        try:
            outcome = act()
        except Stopped as error:
            log.info("handler stopped", exc_info=error, extra=log_fields(run, "execute"))
            return stopped(run, error, self._clock.monotonic())
        except BaseException as error:
            if not isinstance(error, TargetFailed | AskedForDelay | BadResult):
                log.info("attempt failed", exc_info=error, extra=log_fields(run, "execute"))
            return failed(run, error)
        if isinstance(outcome, Suspension):
            return Ended(run=run, suspension=outcome)
        return Ended(run=run, result=outcome)

    def _value(self, task: Task, run: Run) -> Any:
        """Returns what the target returns, or what the task waits for."""
        if task.spec.step is None and task.spec.target["type"] != WORKFLOW:
            return self._call(task, run)
        from duetime.executor.step_attempt import Callback, run_step

        def call(task: Task) -> Any:
            return self._call(task, run)

        callback = Callback(token=run.callback_token, api_url=self._callback_url)
        return run_step(self._ports, task, call, callback, run.source)

    def _call(self, task: Task, run: Run) -> Any:
        target = self._targets[task.spec.target["type"]]
        run.control.mark_started(self._clock.monotonic())
        return target(task, run.control)

    def _with_payload(self, task: Task) -> Task:
        """Returns the task with its payload, which most tasks have in their spec."""
        reference = reference_in(task.spec.payload_object)
        if reference is None:
            return task
        from duetime.executor.large_texts import with_payload

        return with_payload(self._objects, task, reference)

    def _encoded(self, task: Task, result: Any) -> str | None:
        """Returns the text of a result as it is recorded: of a large one, its reference."""
        text = encode_result(result, large=self._objects is not None)
        if text is None or self._objects is None or not is_large(text):
            return text
        from duetime.executor.large_texts import store_result

        return store_result(self._objects, task, text)


def _is_plain(task: Task) -> bool:
    """Whether a task calls a handler with what its row has, and has nothing to wait for."""
    spec = task.spec
    if spec.target["type"] != "python" or spec.step is not None:
        return False
    if spec.payload_object is not None:
        return False
    return spec.occurrence is None or not spec.occurrence.open


def _raise(error: BaseException) -> NoReturn:
    raise error


def _drift(run: Run) -> Millis:
    """Returns the drift as it is recorded with the outcome: see duetime.core.steps.record."""
    leased = run.task.current.drift_ms if run.task.current else 0
    return leased + (run.control.started_after or 0)


def _filled_in(run: Run) -> Task:
    """Returns the task with the template fields of its previous run filled in."""
    occurrence = run.task.spec.occurrence
    if occurrence is None or not occurrence.open:
        return run.task
    from duetime.executor.previous_run import filled_in

    try:
        previous = run.context.previous
    except Unavailable as error:  # the target was not called, so the attempt does not count
        reason = f"the previous run could not be read: {error}"
        raise Snooze(PREVIOUS_RUN_RETRY_DELAY, reason) from error
    return filled_in(run.task, previous)
