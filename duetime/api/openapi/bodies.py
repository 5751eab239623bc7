"""Request bodies as the document shows them.

The API reads the tasks of a batch, the task of a schedule and the steps of a workflow one by one,
after the body around them, so its own models leave these fields open. These models fill them in. A
field of a change has a default only inside the API, and these models leave it out. Everything else
comes from the models that the API reads bodies with.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from duetime.api.schedules.models import MAX_DECLARED, DeclaredIn, ScheduleIn, SyncIn
from duetime.api.schedules.plans import INSTEAD
from duetime.api.service_target_models import AnyTaskIn
from duetime.api.task_changes import ChangeIn
from duetime.api.task_models import BATCH_LIMIT, BatchIn, RetryIn
from duetime.api.worker_models import (
    MAX_ORDINAL,
    MAX_STEP,
    ChildrenIn,
    OutcomeIn,
    RenewalIn,
    RenewIn,
    ReportIn,
)
from duetime.api.workflow_models import DefinitionIn, RunIn
from duetime.api.workflow_steps import StepIn
from duetime.core.worker_calls import MAX_LEASES
from duetime.core.workflows.definition import MAX_STEPS

_TEMPLATE_FIELDS: dict[str, Any] = {
    name: (field.annotation, field)
    for name, field in AnyTaskIn.model_fields.items()
    if name not in INSTEAD
}

TaskTemplateIn: type[BaseModel] = create_model(
    "TaskTemplateIn",
    __config__=ConfigDict(extra="forbid", strict=True),
    __doc__="The task of every run. Its texts may hold templates such as `{{scheduled_for}}`.",
    **_TEMPLATE_FIELDS,
)


class BatchBody(BatchIn):
    tasks: Annotated[list[AnyTaskIn], Field(min_length=1, max_length=BATCH_LIMIT)]


_CHILD_FIELDS: dict[str, Any] = {
    "step": (Annotated[str, Field(min_length=1, max_length=MAX_STEP)] | None, None),
    "ordinal": (Annotated[int, Field(ge=0, le=MAX_ORDINAL)] | None, None),
    **{
        name: (field.annotation, field)
        for name, field in AnyTaskIn.model_fields.items()
        if name not in ("id", "unique")
    },
}

ChildIn: type[BaseModel] = create_model(
    "ChildIn",
    __config__=ConfigDict(extra="forbid", strict=True),
    __doc__="A task that a running task submits.",
    **_CHILD_FIELDS,
)


class RenewBody(RenewIn):
    leases: Annotated[list[RenewalIn], Field(min_length=1, max_length=MAX_LEASES)]


class ReportBody(ReportIn):
    outcomes: Annotated[list[OutcomeIn], Field(min_length=1, max_length=MAX_LEASES)]


class ChildrenBody(ChildrenIn):
    tasks: Annotated[list[ChildIn], Field(min_length=1, max_length=BATCH_LIMIT)]  # type: ignore[valid-type]


class DefinitionBody(DefinitionIn):
    steps: Annotated[list[StepIn], Field(min_length=1, max_length=MAX_STEPS)]


class RunBody(RunIn):
    steps: Annotated[list[StepIn], Field(min_length=1, max_length=MAX_STEPS)] | None = None


class ScheduleBody(ScheduleIn):
    task: TaskTemplateIn  # type: ignore[valid-type]


class DeclaredBody(DeclaredIn):
    task: TaskTemplateIn  # type: ignore[valid-type]


class SyncBody(SyncIn):
    schedules: Annotated[list[DeclaredBody], Field(max_length=MAX_DECLARED)]  # type: ignore[assignment]


def _without_defaults(schema: dict[str, Any]) -> None:
    for field in schema["properties"].values():
        field.pop("default", None)


class RetryChange(RetryIn):
    """A change of a retry policy: fields that are left out stay as they are."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)


def _change(schema: dict[str, Any]) -> None:
    _without_defaults(schema)
    schema["minProperties"] = 1


class ChangeBody(ChangeIn):
    """The fields to change; the others stay as they are."""

    model_config = ConfigDict(json_schema_extra=_change)

    retry: RetryChange | None = None
