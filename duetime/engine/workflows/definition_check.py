"""Checks what a definition names before it is stored: limits and workflows, in its namespace.

`duetime.core.workflows.validation` checks what its fields say about each other.
"""

from collections.abc import Iterator, Mapping

from duetime.core.limits.definition import Limit, LimitUse
from duetime.core.ports import Ports
from duetime.core.task import WORKFLOW, Spec
from duetime.core.value import value
from duetime.core.workflows.codec import definition_of
from duetime.core.workflows.definition import MAX_NESTING, Definition, WorkflowStep
from duetime.engine.limit_check import limit_errors
from duetime.engine.refusal import FieldError
from duetime.engine.workflows.definitions import definitions_by_digest, run_store
from duetime.engine.workflows.named import UnknownWorkflow, find_definition

TOO_DEEP = f"workflows may be nested at most {MAX_NESTING} levels deep"
ITSELF = "a workflow cannot run itself, but an earlier version of itself"


def definition_errors(
    ports: Ports, namespace: str, definition: Definition, name: str | None = None
) -> list[FieldError]:
    """Returns the fields that name what does not exist, or cannot be used here. `name` is that of
    the workflow of which the definition will be the current version, if it has one."""
    names = list({use.name for use in _limits(definition)})
    known = ports.limits.recent(namespace, names) if names else {}
    check = _Check(ports=ports, namespace=namespace, name=name, limits=known)
    return [*check.errors(definition, 0)]


@value(frozen=True, kw_only=True, slots=True)
class _Check:
    ports: Ports
    namespace: str
    name: str | None
    limits: Mapping[str, Limit]

    def errors(self, definition: Definition, depth: int) -> Iterator[FieldError]:
        """`depth` is how many definitions this one is inside of."""
        for number, step in enumerate(definition.steps):
            for error in (*self._limit_errors(step), *self._workflow_errors(step, depth)):
                yield FieldError(f"steps.{number}.{error.field}", error.message)

    def _limit_errors(self, step: WorkflowStep) -> list[FieldError]:
        if not step.limits:
            return []
        spec = Spec(target={}, run_at=0, namespace=self.namespace, limits=step.limits)
        return limit_errors(self.ports.limits, spec, self.limits)

    def _workflow_errors(self, step: WorkflowStep, depth: int) -> Iterator[FieldError]:
        if step.target.get("type") != WORKFLOW:
            return
        if inline := _inline(step):
            for error in self.errors(inline, depth + 1):
                yield FieldError(f"workflow.{error.field}", error.message)
            return
        if step.target[WORKFLOW] == self.name:
            yield FieldError("workflow", ITSELF)
            return
        try:
            if self._is_too_deep(step.target[WORKFLOW], MAX_NESTING - depth - 1):
                yield FieldError("workflow", TOO_DEEP)
        except UnknownWorkflow as unknown:
            yield FieldError("workflow", str(unknown))

    def _is_too_deep(self, name: str, levels: int) -> bool:
        """Whether a named workflow nests more than so many levels below itself. A workflow that it
        names may be deleted meanwhile, and is not looked for: its step then fails."""
        if levels < 0 or name == self.name:
            return True
        found = find_definition(run_store(self.ports), self.namespace, name)
        definition = definitions_by_digest(self.ports, [found.digest]).get(found.digest)
        return definition is not None and self._nests_more(definition, levels)

    def _nests_more(self, definition: Definition, levels: int) -> bool:
        for step in definition.steps:
            if step.target.get("type") != WORKFLOW:
                continue
            if levels == 0:
                return True
            if inline := _inline(step):
                if self._nests_more(inline, levels - 1):
                    return True
            elif self._may_be_too_deep(step.target[WORKFLOW], levels - 1):
                return True
        return False

    def _may_be_too_deep(self, name: str, levels: int) -> bool:
        try:
            return self._is_too_deep(name, levels)
        except UnknownWorkflow:
            return False


def _inline(step: WorkflowStep) -> Definition | None:
    body = step.target.get("definition")
    return None if body is None else definition_of(body)


def _limits(definition: Definition) -> Iterator[LimitUse]:
    for step in definition.steps:
        yield from step.limits
        if inline := _inline(step):
            yield from _limits(inline)
