"""The attempt of a step: what it runs, and what it waits for.

`pass` does nothing. `workflow` and `map` start a run and wait for its end. Every other target runs
as in any task; with a callback, the step then waits for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from duetime.core.errors import Snooze, Unavailable
from duetime.core.ports import Ports
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import WORKFLOW, Task
from duetime.core.times import seconds
from duetime.core.value import value
from duetime.core.workflows.definition import MAP, PASS
from duetime.engine.workflows.callbacks import token_hash
from duetime.engine.workflows.inputs import StepSource, filled_step, source_of
from duetime.engine.workflows.waits import wait_for_run
from duetime.executor.targets import TargetFailed

RETRY_DELAY = 5.0  # seconds, after the run could not be read

RunTarget = Callable[[Task], Any]


@value(frozen=True, kw_only=True, slots=True)
class Callback:
    """How the outside can end the wait of this attempt."""

    token: str | None  # None: the step waits for none
    api_url: str | None  # None: the API accepts no callbacks

    @property
    def names(self) -> dict[str, str | None]:
        """What `{{callback.…}}` refers to."""
        known = self.token and self.api_url
        url = f"{self.api_url}/v1/callbacks/{self.token}" if known else None
        return {"token": self.token, "url": url}


def run_step(
    ports: Ports,
    task: Task,
    run_target: RunTarget,
    callback: Callback,
    source: StepSource | None = None,
) -> Any:
    """Returns the result of the attempt, or the Suspension with which it ends. `source` is what the
    gate has read before the lease; without it, it is read here."""
    _raise_verdict(task)
    try:
        return _run(ports, task, run_target, callback, source)
    except Unavailable as error:  # the target was not called, so the attempt does not count
        raise Snooze(RETRY_DELAY, f"the run could not be read: {error}") from error


def _run(
    ports: Ports,
    task: Task,
    run_target: RunTarget,
    callback: Callback,
    source: StepSource | None,
) -> Any:
    if task.spec.step is None:
        return wait_for_run(ports, task)
    source = source or source_of(ports, task)
    if source.target["type"] in (WORKFLOW, MAP):
        return wait_for_run(ports, task)
    longest = source.step.callback
    if longest is None:
        return _result(task, run_target, *filled_step(ports, source))
    if callback.token is None:
        raise ValueError(f"task {task.id} was leased without the token of its callback")
    _result(task, run_target, *filled_step(ports, source, callback.names))
    until = ports.clock.now() + seconds(longest)
    return Suspension(kind=WaitsFor.CALLBACK, id=token_hash(callback.token), until=until)


def _result(task: Task, run_target: RunTarget, target: Mapping[str, Any], payload: Any) -> Any:
    if target["type"] == PASS:
        return None
    return run_target(replace(task, spec=replace(task.spec, target=target, payload=payload)))


def _raise_verdict(task: Task) -> None:
    """What the task waited for has failed, and so does the task."""
    failed = task.suspended
    if failed is not None and failed.error_type is not None:
        raise TargetFailed(failed.error_type, failed.error_message or "", permanent=True)
