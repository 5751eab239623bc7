"""Targets that call AWS: an adapter says what to call, this module calls it and sorts failures.

The adapters are pure. Each is loaded on first use, and so is the AWS SDK."""

from collections.abc import Callable, Mapping
from typing import Any

from duetime.core.service_calls import ServiceCall, ServiceCallFailed, Services
from duetime.core.task import Task
from duetime.core.value import value
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.handlers.context import Context

Answer = Mapping[str, Any]


@value(frozen=True, kw_only=True, slots=True)
class Adapter:
    """Attributes:
    call: Makes the call from the task. Raises TargetFailed for a payload that does not fit.
    result: Makes the result from the service's answer. Raises TargetFailed if that is a failure.
    accept: Returns the result for an error that says that the work is done already, else None.
        May raise TargetFailed to sort the error in another way."""

    call: Callable[[Task, Context], ServiceCall]
    result: Callable[[Task, Answer], Any]
    accept: Callable[[Task, ServiceCallFailed], Any] = lambda _task, _error: None


class ServiceTarget:
    def __init__(self, services: Services, adapter: Adapter) -> None:
        self._services = services
        self._adapter = adapter

    def __call__(self, task: Task, control: RunControl) -> Any:
        call = self._adapter.call(task, control.context)
        try:
            answer = self._services.call(call, task.spec.timeout)
        except ServiceCallFailed as error:
            done = self._adapter.accept(task, error)
            if done is not None:
                return done
            raise TargetFailed(error.code, str(error), permanent=error.permanent) from error
        return self._adapter.result(task, answer)


def bad_payload(reason: str) -> TargetFailed:
    """For a payload that submission could not check, because a template filled it in later."""
    return TargetFailed("BadPayload", f"payload: {reason}", permanent=True)
