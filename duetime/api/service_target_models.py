"""Targets that call a service or start a workflow: loaded with the first task that has one.

`target` says where and how; `payload` is what is sent. Each model checks both."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, TypeAdapter

from duetime.api.http import FieldError
from duetime.api.record_target_models import DynamoDBTarget, EmailTarget, SqlTarget
from duetime.api.service_target_fields import (
    ATTRIBUTE_OVERHEAD,
    KIB,
    MIB,
    NO_MESSAGE_TEXT,
    Attributes,
    Group,
    ServiceTarget,
    Text,
    arn_of,
    arn_schema,
    in_document,
    matching,
    need_object,
    sent_size,
    too_large,
)
from duetime.api.target_models import HttpTarget, PythonTarget, TargetIn
from duetime.api.task_models import TaskIn, stored_size
from duetime.core.workflows.names import VERSIONED, VERSIONED_RULE, is_versioned


class _MessageTarget(ServiceTarget):
    group: Group | None = None
    attributes: Attributes = Field(default_factory=dict)

    def _message_errors(self, payload: Any, limit: int, service: str) -> list[FieldError]:
        if isinstance(payload, str) and (not payload or NO_MESSAGE_TEXT.search(payload)):
            return [FieldError("payload", "must be text without control characters, not empty")]
        attributes = sum(len(f"{n}{t}String".encode()) for n, t in self.attributes.items())
        return too_large(sent_size(payload) + attributes + ATTRIBUTE_OVERHEAD, limit, service)

    def _group_errors(self, name: str) -> list[FieldError]:
        if self.group is not None or not name.endswith(".fifo"):
            return []
        return [FieldError("target.group", "required for a FIFO queue or topic")]


class SqsTarget(_MessageTarget):
    type: Literal["sqs"]
    queue: Annotated[str, arn_of("sqs"), arn_schema("sqs")]
    delay: Annotated[int, Field(ge=0, le=900)] = 0

    def field_errors(self) -> list[FieldError]:
        errors = self._group_errors(self.queue)
        if self.queue.endswith(".fifo") and self.delay:
            errors.append(FieldError("target.delay", "does not go with a FIFO queue"))
        return errors

    def payload_errors(self, payload: Any) -> list[FieldError]:
        return self._message_errors(payload, MIB, "SQS")


_SUBJECT = r"[\x21-\x7e][\x20-\x7e]{0,99}"
Subject = Annotated[
    str,
    matching(re.compile(_SUBJECT), "must be 1 to 100 ASCII characters in one line"),
    in_document(pattern=f"^{_SUBJECT}$"),
]


class SnsTarget(_MessageTarget):
    type: Literal["sns"]
    topic: Annotated[str, arn_of("sns"), arn_schema("sns")]
    subject: Subject | None = None

    def field_errors(self) -> list[FieldError]:
        return self._group_errors(self.topic)

    def payload_errors(self, payload: Any) -> list[FieldError]:
        return self._message_errors(payload, 256 * KIB, "SNS")


class EventBridgeTarget(ServiceTarget):
    type: Literal["eventbridge"]
    bus: Annotated[str, arn_of("eventbridge"), arn_schema("eventbridge")]
    source: Text
    detail_type: Text
    resources: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=2_048)]],
        Field(max_length=20),
    ] = Field(default_factory=list)

    def field_errors(self) -> list[FieldError]:
        if not self.source.lower().startswith("aws."):
            return []
        return [FieldError("target.source", "must not begin with aws., which is for AWS itself")]

    def payload_errors(self, payload: Any) -> list[FieldError]:
        if payload is None:
            return []
        around = len(self.source) + len(self.detail_type) + sum(map(len, self.resources))
        size = 0 if not isinstance(payload, dict) else stored_size(payload) + 4 * around + 100
        return [
            *need_object(payload, "an object, the detail of the event"),
            *too_large(size, MIB, "EventBridge"),
        ]


class LambdaTarget(ServiceTarget):
    type: Literal["lambda"]
    function: Annotated[str, arn_of("lambda"), arn_schema("lambda")]
    invocation: Literal["sync", "async"] = "sync"
    envelope: bool = False

    def payload_errors(self, payload: Any) -> list[FieldError]:
        limit = 6 * MIB if self.invocation == "sync" else MIB
        return too_large(stored_size(payload) + 100, limit, "Lambda")


class StepFunctionsTarget(ServiceTarget):
    type: Literal["stepfunctions"]
    state_machine: Annotated[str, arn_of("stepfunctions"), arn_schema("stepfunctions")]

    def payload_errors(self, payload: Any) -> list[FieldError]:
        return too_large(stored_size(payload), 256 * KIB, "Step Functions")


def _versioned(text: str) -> str:
    if not is_versioned(text):
        raise ValueError(VERSIONED_RULE)
    return text


Versioned = Annotated[str, AfterValidator(_versioned), in_document(pattern=f"^{VERSIONED}$")]


class WorkflowTarget(TargetIn):
    """Starts a run, and waits for its end."""

    type: Literal["workflow"]
    workflow: Versioned
    input: Any = None

    def stored(self) -> dict[str, Any]:
        given = {} if self.input is None else {"input": self.input}
        return {"type": "workflow", "workflow": self.workflow, **given}

    def payload_errors(self, payload: Any) -> list[FieldError]:
        if payload is None:
            return []
        return [FieldError("payload", "does not go with a workflow: use target.input")]


AnyTarget = Annotated[
    HttpTarget
    | PythonTarget
    | DynamoDBTarget
    | EmailTarget
    | EventBridgeTarget
    | LambdaTarget
    | SnsTarget
    | SqlTarget
    | SqsTarget
    | StepFunctionsTarget
    | WorkflowTarget,
    Field(discriminator="type"),
]


class AnyTaskIn(TaskIn):
    """A task with any target; TaskIn knows `http` and `python` alone."""

    target: AnyTarget  # type: ignore[assignment]


def payload_errors(target: Mapping[str, Any], payload: Any) -> list[FieldError]:
    """Returns why a stored target cannot send another payload."""
    found: TargetIn = _any_target().validate_python(target)
    return found.payload_errors(payload)


@cache
def _any_target() -> TypeAdapter[Any]:
    return TypeAdapter(AnyTarget)
