"""A step as submitted, and the step of the definition that it becomes."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from duetime.api.http import FieldError
from duetime.api.limit_models import LimitUseIn
from duetime.api.service_target_models import AnyTarget
from duetime.api.task_models import Delay, Pool, Priority, RetryIn, Tags, Timeout
from duetime.api.validation import Moment, field_errors
from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.lanes import Lane
from duetime.core.limits.definition import MAX_LIMITS
from duetime.core.retry import DEFAULT_RETRY
from duetime.core.task import WORKFLOW
from duetime.core.template import BadTemplate, finish, names_in
from duetime.core.times import YEAR
from duetime.core.workflows.definition import (
    DEFAULT_WINDOW,
    MAX_ITEMS,
    MAX_STEPS,
    MAX_WINDOW,
    PASS,
    MapOver,
    RunIf,
    WorkflowStep,
)
from duetime.core.workflows.names import (
    STEP_NAME,
    STEP_NAME_RULE,
    VERSIONED_RULE,
    is_step_name,
    is_versioned,
)
from duetime.core.workflows.references import literal_faults

# Returns the faults of a target that has passed its model, and runs in a pool: what is not allowed
# or not known here.
CheckTarget = Callable[[Mapping[str, Any], str | None], list[FieldError]]

STRICT = ConfigDict(extra="forbid", strict=True, validate_by_alias=True)
KINDS = ("target", "workflow", "wait")
ONE_KIND = "give one of target, workflow and wait"
NO_EVENTS = "there are no events yet: give seconds or until"
SAMPLE = "1"  # in place of a reference while the rest of a target is checked
MAX_KEY = 256  # characters, with its references
LONGEST_CALLBACK = YEAR // 1_000  # seconds


def _step_name(text: str) -> str:
    if not is_step_name(text):
        raise ValueError(STEP_NAME_RULE)
    return text


StepName = Annotated[
    str, AfterValidator(_step_name), Field(json_schema_extra={"pattern": f"^{STEP_NAME}$"})
]


def _step_key(text: str) -> str:
    """A key with references becomes a word when they are filled in, so the rest must be one."""
    try:
        names = {found.name for found in names_in(text)}
    except BadTemplate as bad:
        raise ValueError(bad.reason) from None
    if not is_word(str(finish(text, dict.fromkeys(names, SAMPLE), whole=False))):
        raise ValueError(WORD_RULE)
    return text


StepKey = Annotated[str, Field(min_length=1, max_length=MAX_KEY), AfterValidator(_step_key)]


class StepLimitIn(LimitUseIn):
    key: StepKey | None = None


class MapIn(BaseModel):
    model_config = STRICT

    items: Any
    max_concurrency: Annotated[int, Field(ge=1, le=MAX_WINDOW)] = DEFAULT_WINDOW
    tolerated_failures: Annotated[int, Field(ge=0, le=MAX_ITEMS)] = 0

    def over(self) -> MapOver:
        return MapOver(
            items=self.items,
            max_concurrency=self.max_concurrency,
            tolerated_failures=self.tolerated_failures,
        )


class CallbackIn(BaseModel):
    model_config = STRICT

    timeout: Annotated[float, Field(ge=1, le=LONGEST_CALLBACK)] = 86_400.0


class WaitIn(BaseModel):
    model_config = STRICT

    seconds: Delay | None = None
    until: Moment | None = None
    event: Any = None

    def errors(self) -> list[FieldError]:
        if self.event is not None:
            return [FieldError("wait.event", NO_EVENTS)]
        if (self.seconds is None) is (self.until is None):
            return [FieldError("wait", "give seconds or until, and not both")]
        return []


class StepIn(BaseModel):
    """`target` and an inline `workflow` are read on their own: they may contain references."""

    model_config = STRICT

    name: StepName
    target: dict[str, Any] | None = None
    workflow: Annotated[str, StringConstraints(min_length=1)] | dict[str, Any] | None = None
    wait: WaitIn | None = None
    input: Any = None
    payload: Any = None
    retry: RetryIn | None = None
    priority: Priority | None = None
    pool: Pool | None = None  # before the timeout, which it limits
    timeout: Timeout = 60.0
    limits: Annotated[list[StepLimitIn], Field(max_length=MAX_LIMITS)] = []
    ordering_key: StepKey | None = None
    tags: Tags = {}
    needs: Annotated[list[str], Field(max_length=MAX_STEPS)] = []
    run_if: Literal["all_succeeded", "none_failed", "any_failed", "all_finished"] = "all_succeeded"
    when: dict[str, Any] | None = None
    allow_failure: bool = False
    delay: Delay = 0.0
    map: MapIn | None = None
    callback: CallbackIn | None = None
    last: Annotated[bool, Field(alias="finally")] = False

    def errors(self) -> list[FieldError]:
        """Returns the fields that contradict each other."""
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            return [FieldError(given[1], ONE_KIND) if given else FieldError("target", ONE_KIND)]
        errors = self.wait.errors() if self.wait else []
        errors += self._misplaced(given[0])
        if isinstance(self.workflow, str) and not is_versioned(self.workflow):
            errors.append(FieldError("workflow", VERSIONED_RULE))
        return errors

    def _misplaced(self, kind: str) -> list[FieldError]:
        """Returns the fields that go with another kind of step."""
        given = {
            "payload": self.payload is not None and kind != "target",
            "callback": self.callback is not None and kind != "target",
            "pool": self.pool is not None and kind != "target",
            "input": self.input is not None and kind != "workflow",
            "map": self.map is not None and kind == "wait",
            "delay": bool(self.delay) and kind == "wait",
        }
        wanted = {"input": "workflow", "map": "target or workflow", "delay": "target or workflow"}
        return [
            FieldError(field, f"goes with {wanted.get(field, 'target')}, not with {kind}")
            for field, misplaced in given.items()
            if misplaced
        ]

    def step(self, target: Mapping[str, Any]) -> WorkflowStep:
        """Returns the step with its target, which is read apart."""
        return WorkflowStep(
            name=self.name,
            target=target,
            payload=self.payload,
            retry=self.retry.policy() if self.retry else DEFAULT_RETRY,
            timeout=self.timeout,
            priority=Lane(self.priority) if self.priority else None,
            pool=self.pool,
            limits=tuple(limit.use() for limit in self.limits),
            ordering_key=self.ordering_key,
            tags=self.tags,
            needs=tuple(self.needs),
            run_if=RunIf(self.run_if),
            when=self.when,
            allow_failure=self.allow_failure,
            delay=(self.wait.seconds or 0.0) if self.wait else self.delay,
            until=self.wait.until if self.wait else None,
            map=self.map.over() if self.map else None,
            callback=self.callback.timeout if self.callback else None,
            last=self.last,
        )

    def compiled(self, definition: Mapping[str, Any] | None) -> dict[str, Any]:
        """Returns the target of a step that waits or starts a workflow; `definition` is the JSON
        form of an inline one."""
        if self.wait is not None:
            return {"type": PASS}
        started = {"workflow": self.workflow} if definition is None else {"definition": definition}
        given = {} if self.input is None else {"input": self.input}
        return {"type": WORKFLOW, **started, **given}


class _TargetOnly(BaseModel):
    model_config = STRICT

    target: AnyTarget


def read_target(
    given: Mapping[str, Any], payload: Any, pool: str | None, check: CheckTarget
) -> tuple[dict[str, Any], list[FieldError]]:
    """Checks a target by the model of a task's target, with a sample for each reference, and
    returns what is stored, with its references, and the errors."""
    if given.get("type") == WORKFLOW:
        return {}, [FieldError("target.type", "use workflow instead of target")]
    try:
        found = list(names_in({"target": given, "payload": payload}))
    except BadTemplate as bad:
        return {}, [FieldError(bad.path, bad.reason)]
    if literal := [FieldError(f"target.{path}", why) for path, why in literal_faults(given)]:
        return {}, literal
    sample = finish(dict(given), dict.fromkeys((f.name for f in found), SAMPLE), whole=False)
    try:
        target = _TargetOnly.model_validate({"target": sample}).target
    except ValidationError as error:
        return {}, field_errors(error)
    # What a payload with references becomes is known when the step starts.
    literal_payload = not any(f.path.startswith("payload") for f in found)
    errors = target.errors(payload) if literal_payload else target.field_errors()
    stored = target.stored()
    return _with_references(stored, given), [*errors, *check(stored, pool)]


def _with_references(stored: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a target with what `fill_in` fills in as it was given, instead of the samples."""
    if stored["type"] != "http":
        return stored
    return {**stored, **{name: given[name] for name in ("url", "headers") if name in stored}}
