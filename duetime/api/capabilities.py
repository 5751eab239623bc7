"""What the executors support, by which the API refuses what they cannot run."""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from duetime.api.http import FieldError, excerpt, invalid
from duetime.api.task_models import TaskIn, read_task
from duetime.core.allowed_targets import ALL_TARGETS, AllowedTargets
from duetime.core.known_names import known_names
from duetime.core.secrets import references_in
from duetime.core.task import WORKFLOW
from duetime.core.time_limits import TimeLimits
from duetime.core.value import value
from duetime.handlers.defaults import Defaults, with_defaults

if TYPE_CHECKING:
    from duetime.core.limits.ports import LimitStore
    from duetime.core.workflows.ports import RunStore

# The names of the handlers; as a mapping, with the defaults of their tasks.
HandlerNames = Callable[[], Collection[str] | Mapping[str, Defaults]]
SecretNames = Callable[[], Collection[str]]


@value(frozen=True, slots=True)
class Capabilities:
    """What the executors support. The API refuses a task that they cannot run."""

    handlers: HandlerNames
    time_limits: TimeLimits
    secrets: SecretNames
    limits: "LimitStore"
    targets: AllowedTargets = ALL_TARGETS
    runs: "RunStore | None" = None  # where the workflows are that a task may start

    def with_defaults(self, body: Any) -> Any:
        """Returns the body of a task with the defaults of its handler for what it does not have."""
        name = _handler_in(body)
        if not name or not isinstance(known := self.handlers(), Mapping):
            return body
        defaults = known.get(name)
        return with_defaults(body, defaults) if defaults else body

    def step_with_defaults(self, step: Any) -> Any:
        """Returns a step with the defaults of its handler, as a task has them. A step has no
        fairness key."""
        filled = self.with_defaults(step)
        if filled is step or "fairness_key" in step:
            return filled
        return {field: part for field, part in filled.items() if field != "fairness_key"}

    def read(self, body: Any) -> TaskIn:
        task = read_task(self.with_defaults(body), self.time_limits)
        target = task.target.stored()
        if errors := self._handler_errors(target, task.pool) or _secret_errors(
            target, self.secrets
        ):
            raise invalid(errors)
        if refusal := self.targets.refusal(target):
            raise invalid([FieldError(*refusal)])
        if task.target.type == WORKFLOW:
            self._check_workflow(task)
        return task

    def target_errors(self, target: Mapping[str, Any], pool: str | None) -> list[FieldError]:
        """Returns why the executors cannot run the target of a step."""
        errors = [*self._handler_errors(target, pool), *_secret_errors(target, self.secrets)]
        refusal = self.targets.refusal(target)
        return [*errors, FieldError(*refusal)] if refusal else errors

    def _handler_errors(self, target: Mapping[str, Any], pool: str | None) -> list[FieldError]:
        """The workers of a pool may run other code than this deployment."""
        return [] if pool is not None else _handler_errors(target, self.handlers)

    def _check_workflow(self, task: TaskIn) -> None:
        from duetime.engine.workflows.named import UnknownWorkflow, find_definition

        if self.runs is None:
            raise invalid([FieldError("target.type", "this backend has no workflows")])
        try:
            find_definition(self.runs, task.namespace, task.target.stored()[WORKFLOW])
        except UnknownWorkflow as unknown:
            raise invalid([FieldError("target.workflow", str(unknown))]) from None


def _handler_in(body: Any) -> str:
    """Returns the name of the handler in a body that has not been read; empty if there is none."""
    target = body.get("target") if isinstance(body, dict) else None
    if not isinstance(target, dict) or target.get("type") != "python":
        return ""
    name = target.get("handler")
    return name if isinstance(name, str) else ""


def _handler_errors(target: Mapping[str, Any], handlers: HandlerNames) -> list[FieldError]:
    if target["type"] != "python" or target["handler"] in (known := handlers()):
        return []
    name = excerpt(target["handler"], 60)
    message = f"no handler {name!r} is registered; {known_names(name, known)}"
    return [FieldError("target.handler", message)]


def _secret_errors(target: Mapping[str, Any], secrets: SecretNames) -> list[FieldError]:
    if target["type"] == "python":  # has only names; most tasks have this target
        return []
    return [
        FieldError(field, f"there is no secret {name!r}; {known_names(name, known)}")
        for field, name in references_in(target)
        if name not in (known := secrets())
    ]
