"""Request bodies: a workflow's definition, and a run. See workflow_steps for the steps."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from duetime.api.http import FieldError, invalid
from duetime.api.task_models import (
    RUN_AT_OR_DELAY,
    TOO_FAR_AHEAD,
    Delay,
    Priority,
    Tags,
    read_body,
)
from duetime.api.validation import Moment, Word, field_errors
from duetime.api.workflow_steps import CheckTarget, StepIn, read_target
from duetime.core.codec import to_json
from duetime.core.lanes import Lane
from duetime.core.task import MAX_AHEAD, MAX_NAME
from duetime.core.time_limits import TimeLimits
from duetime.core.times import Millis, seconds
from duetime.core.value import value
from duetime.core.workflows.codec import definition_json
from duetime.core.workflows.definition import (
    DEFAULT_TIMEOUT,
    LONGEST_TIMEOUT,
    MAX_INPUT,
    MAX_NESTING,
    MAX_STEPS,
    Definition,
    WorkflowStep,
)
from duetime.core.workflows.names import VERSIONED_RULE, is_versioned, name_and_version
from duetime.core.workflows.validation import check_definition

# Returns the body of a step with the defaults of its handler.
AddDefaults = Callable[[Any], Any]

STRICT = ConfigDict(extra="forbid", strict=True)
ONE_DEFINITION = FieldError("steps", "give workflow or steps, and not both")

StepsIn = Annotated[list[Any], Field(min_length=1, max_length=MAX_STEPS)]
RunTimeout = Annotated[float, Field(ge=1, le=LONGEST_TIMEOUT // 1_000)]


def _versioned(text: str) -> str:
    if not is_versioned(text):
        raise ValueError(VERSIONED_RULE)
    return text


TIME_LIMITS = TimeLimits()


class DefinitionIn(BaseModel):
    """The steps are read one by one, so that an error has the path of its field."""

    model_config = STRICT

    steps: StepsIn
    fail_fast: bool = False
    timeout: RunTimeout = DEFAULT_TIMEOUT / 1_000
    priority: Priority = "medium"
    tags: Tags = {}

    def definition(self, steps: tuple[WorkflowStep, ...]) -> Definition:
        return Definition(
            steps=steps,
            fail_fast=self.fail_fast,
            timeout=seconds(self.timeout),
            priority=Lane(self.priority),
            tags=self.tags,
        )


class RunIn(BaseModel):
    model_config = STRICT

    workflow: Annotated[str, AfterValidator(_versioned)] | None = None
    steps: StepsIn | None = None
    input: Any = None
    name: Annotated[str, StringConstraints(max_length=MAX_NAME)] | None = None
    namespace: Word = "default"
    tags: Tags = {}
    idempotency_key: Word | None = None
    run_at: Moment | None = None
    delay: Delay | None = None
    timeout: RunTimeout | None = None
    fail_fast: bool | None = None
    priority: Priority | None = None

    def starts_at(self, now: Millis) -> Millis:
        if self.run_at is not None:
            return self.run_at
        return now if self.delay is None else now + seconds(self.delay)

    def errors(self, now: Millis) -> list[FieldError]:
        errors = []
        if (self.workflow is None) is (self.steps is None):
            errors.append(ONE_DEFINITION)
        if self.run_at is not None and self.delay is not None:
            errors.append(RUN_AT_OR_DELAY)
        if self.starts_at(now) - now > MAX_AHEAD:
            errors.append(TOO_FAR_AHEAD)
        return [*errors, *_input_errors(self.input)]


@value(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """A run as submitted. It has a `workflow` or a `definition`. None for timeout, fail_fast or
    priority means that of the definition."""

    namespace: str
    run_at: Millis
    workflow: str | None
    version: int | None  # None: the current one
    definition: Definition | None
    input: Any
    name: str | None
    tags: Mapping[str, str]
    idempotency_key: str | None
    timeout: Millis | None
    fail_fast: bool | None
    priority: Lane | None


def read_definition(
    body: Any,
    time_limits: TimeLimits = TIME_LIMITS,
    check: CheckTarget = lambda _target, _pool: [],
    add_defaults: AddDefaults = lambda step: step,
) -> Definition:
    """Reads the body of PUT /v1/workflows/{name}. Raises a Problem.

    Args:
        time_limits: how long an attempt of a step may take, and which pools there are.
        check: returns why a target is not allowed here.
        add_defaults: returns the body of a step with the defaults of its handler.
    """
    reader = _Reader(time_limits=time_limits, check=check, add_defaults=add_defaults)
    return reader.read(read_body(DefinitionIn, body))


def read_run(
    body: Any,
    now: Millis,
    time_limits: TimeLimits = TIME_LIMITS,
    check: CheckTarget = lambda _target, _pool: [],
    add_defaults: AddDefaults = lambda step: step,
) -> RunRequest:
    """Reads the body of POST /v1/runs. Raises a Problem."""
    run = read_body(RunIn, body)
    if errors := run.errors(now):
        raise invalid(errors)
    reader = _Reader(time_limits=time_limits, check=check, add_defaults=add_defaults)
    definition = None if run.steps is None else reader.read(_inline(run))
    name, version = name_and_version(run.workflow) if run.workflow else (None, None)
    return RunRequest(
        namespace=run.namespace,
        run_at=run.starts_at(now),
        workflow=name,
        version=version,
        definition=definition,
        input=run.input,
        name=run.name,
        tags=run.tags,
        idempotency_key=run.idempotency_key,
        timeout=None if run.timeout is None else seconds(run.timeout),
        fail_fast=run.fail_fast,
        priority=Lane(run.priority) if run.priority else None,
    )


def _inline(run: RunIn) -> DefinitionIn:
    """Returns the definition of a run with steps of its own. Its tags are those of the run, and not
    of the definition, so that runs that differ in their tags alone share a definition."""
    given = {name: getattr(run, name) for name in ("steps", "timeout", "fail_fast", "priority")}
    return DefinitionIn(**{name: part for name, part in given.items() if part is not None})


@value(frozen=True, kw_only=True, slots=True)
class _Reader:
    """Reads definitions, and those inside their steps."""

    time_limits: TimeLimits
    check: CheckTarget
    add_defaults: AddDefaults

    def read(self, given: DefinitionIn) -> Definition:
        definition, errors = self._read(given, 0)
        if errors:
            raise invalid(errors)
        if faults := check_definition(definition):
            raise invalid([FieldError(*fault) for fault in faults])
        return definition

    def _read(self, given: DefinitionIn, depth: int) -> tuple[Definition, list[FieldError]]:
        steps, errors = [], []
        for number, body in enumerate(given.steps):
            step, found = self._step(body, depth)
            errors += _under(f"steps.{number}", found)
            steps += [step] if step else []
        return given.definition(tuple(steps)), errors

    def _step(self, body: Any, depth: int) -> tuple[WorkflowStep | None, list[FieldError]]:
        context = {"time_limits": self.time_limits}
        try:
            given = StepIn.model_validate(self.add_defaults(body), context=context)
        except ValidationError as error:
            return None, list(dict.fromkeys(map(_without_union, field_errors(error))))
        if errors := given.errors():
            return None, errors
        target, errors = self._target(given, depth)
        return (None if errors else given.step(target)), errors

    def _target(self, given: StepIn, depth: int) -> tuple[dict[str, Any], list[FieldError]]:
        if given.target is not None:
            return read_target(given.target, given.payload, given.pool, self.check)
        if not isinstance(given.workflow, dict):
            return given.compiled(None), []
        if depth == MAX_NESTING:
            message = f"must be at most {MAX_NESTING} definitions deep"
            return {}, [FieldError("workflow", message)]
        definition, errors = self._nested(given.workflow, depth)
        return given.compiled(definition), _under("workflow", errors)

    def _nested(
        self, body: Mapping[str, Any], depth: int
    ) -> tuple[dict[str, Any], list[FieldError]]:
        try:
            nested = DefinitionIn.model_validate(body)
        except ValidationError as error:
            return {}, field_errors(error)
        definition, errors = self._read(nested, depth + 1)
        return ({} if errors else definition_json(definition)), errors


def _under(path: str, errors: list[FieldError]) -> list[FieldError]:
    """Returns the errors with their fields under a path; `body` is what is there itself."""
    return [
        FieldError(path if error.field == "body" else f"{path}.{error.field}", error.message)
        for error in errors
    ]


def _without_union(error: FieldError) -> FieldError:
    """Removes what pydantic puts behind `workflow`, which is a name or a definition."""
    if error.field.startswith("workflow."):
        return FieldError("workflow", "must be the name of a workflow, or a definition")
    return error


def _input_errors(given: Any) -> list[FieldError]:
    try:
        size = len(to_json(given).encode())
    except ValueError:  # 1e999 is read as infinity, which JSON cannot represent
        return [FieldError("input", "must hold no number beyond 1.8e308")]
    if size <= MAX_INPUT:
        return []
    return [FieldError("input", f"must be at most {MAX_INPUT // 1024} KiB")]
