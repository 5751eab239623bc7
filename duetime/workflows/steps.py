"""Steps of a workflow, and the operator that orders them: `extract >> [a, b] >> load`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from duetime.client.errors import BadArgument
from duetime.handlers.defaults import to_seconds
from duetime.workflows.references import Reference, pattern, references_in, steps_in

if TYPE_CHECKING:
    from datetime import timedelta
    from uuid import UUID

    from duetime.client.limit_types import LimitUseFields
    from duetime.client.types import Priority, RetryFields
    from duetime.client.workflow_types import RunIf
    from duetime.workflows.builder import Workflow

    Delay = float | str | timedelta


class StepOptions(TypedDict, total=False):
    """Options of a step. Durations are seconds, "90s", "1h30m" or a timedelta."""

    needs: "Sequence[Step]"  # steps that must have ended before it starts
    run_if: "RunIf"  # how they must have ended; default: all_succeeded
    when: Mapping[Any, Any]  # a pattern on the input and on results; if it is false, it is skipped
    allow_failure: bool  # its failure does not fail the run
    delay: "Delay"  # after it became ready
    callback: "Delay"  # how long it waits for a callback after its target has succeeded
    finally_: bool  # it runs after every other step has ended, also on cancel
    retry: "RetryFields"
    timeout: "Delay"
    priority: "Priority"
    pool: str | None
    limits: "Sequence[LimitUseFields]"
    ordering_key: "str | UUID | Reference"
    tags: Mapping[str, Any]


class WorkflowOptions(TypedDict, total=False):
    """Options of a workflow, and defaults of its runs."""

    fail_fast: bool  # the first failure stops the run, with the steps that run
    timeout: "Delay"  # of a run, from its start
    priority: "Priority"  # of the steps that have none
    tags: dict[str, str]


class Step:
    """A step of a workflow. `result` and the other properties are references to what it will have
    done: a step that uses one in its payload needs this step. To a type checker they are Any, so
    that they fit the parameters of a handler: see `Handler.call`."""

    def __init__(self, workflow: "Workflow", name: str, fields: dict[str, Any]) -> None:
        self.workflow = workflow
        self.name = name
        self.fields = fields
        self.needs: list[Step] = []

    @property
    def result(self) -> Any:
        """What it returns."""
        return self._reference("result")

    @property
    def results(self) -> Any:
        """The results of the items of a map, in order; failed ones are null."""
        return self._reference("results")

    @property
    def status(self) -> Any:
        return self._reference("status")

    @property
    def error(self) -> Any:
        """`step.error.message` says why it failed."""
        return self._reference("error")

    @property
    def task_id(self) -> Any:
        return self._reference("task_id")

    def _reference(self, what: str) -> Reference:
        return Reference(self.workflow, ("steps", self.name, what))

    def need(self, steps: "Iterable[Step]") -> None:
        """Makes it start after these steps. Naming one twice changes nothing."""
        for step in steps:
            if not isinstance(step, Step):
                raise BadArgument("needs", f"step {self.name!r}: {step!r} is not a step")
            if step.workflow is not self.workflow:
                other = f"step {step.name!r} of the workflow {step.workflow.name!r}"
                raise BadArgument("needs", f"step {self.name!r} cannot need {other}")
            if step not in self.needs:
                self.needs.append(step)

    def __rshift__(self, after: "Step | Sequence[Step]") -> "Steps":
        """`a >> b`: b starts after a. Returns what is on the right, to go on from there."""
        return Steps([self]) >> after

    def __rrshift__(self, before: "Sequence[Step]") -> "Steps":
        """`[a, b] >> c`"""
        return Steps(before) >> self

    def definition(self) -> dict[str, Any]:
        """Returns the JSON of the step."""
        needs = {"needs": [step.name for step in self.needs]} if self.needs else {}
        return {"name": self.name, **self.fields, **needs}

    def __repr__(self) -> str:
        return f"<step {self.name!r}>"


class Steps(Sequence[Step]):
    """Steps beside each other: what `>>` returns."""

    def __init__(self, steps: "Step | Iterable[Step]") -> None:
        self._steps = [steps] if isinstance(steps, Step) else list(steps)

    def __getitem__(self, place: Any) -> Any:
        return self._steps[place]

    def __len__(self) -> int:
        return len(self._steps)

    def __rshift__(self, after: "Step | Sequence[Step]") -> "Steps":
        later = Steps(after)
        for step in later:
            step.need(self)
        return later

    def __rrshift__(self, before: Sequence[Step]) -> "Steps":
        return Steps(before) >> self


def option_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a step. Raises TypeError for an unknown option."""
    if unknown := sorted(options.keys() - StepOptions.__annotations__.keys()):
        known = ", ".join(StepOptions.__annotations__)
        raise TypeError(f"there is no option {unknown[0]!r}; known: {known}")
    fields = {name: value for name, value in options.items() if name not in ("needs", "finally_")}
    for name in ("delay", "timeout"):
        if name in fields:
            fields[name] = to_seconds(fields[name])
    if "callback" in fields:
        fields["callback"] = {"timeout": to_seconds(fields["callback"])}
    if "when" in fields:
        fields["when"] = pattern(fields["when"])
    if options.get("finally_"):
        fields["finally"] = True
    return fields


def used_steps(given: Any, fields: Mapping[str, Any]) -> Iterator[str]:
    """Yields the names of the steps whose results a step uses: `given` is as the caller gave it,
    `fields` as compiled."""
    for reference in references_in(given):
        if reference._path[0] == "steps":
            yield reference._path[1]
    yield from steps_in(fields)
    yield from fields.get("when", {}).get("steps", {})
