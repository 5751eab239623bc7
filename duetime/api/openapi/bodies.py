"""Request bodies as the document shows them.

The API reads the tasks of a batch and the task of a schedule one by one, after the body around
them, so its own models leave these fields open. These models fill them in; everything else comes
from the models that the API reads bodies with.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from duetime.api.schedules.models import ScheduleIn
from duetime.api.schedules.plans import INSTEAD
from duetime.api.task_models import BATCH_LIMIT, BatchIn, TaskIn

_TEMPLATE_FIELDS: dict[str, Any] = {
    name: (field.annotation, field)
    for name, field in TaskIn.model_fields.items()
    if name not in INSTEAD
}

TaskTemplateIn: type[BaseModel] = create_model(
    "TaskTemplateIn",
    __config__=ConfigDict(extra="forbid", strict=True),
    __doc__="The task of every run. Its texts may hold templates such as `{{scheduled_for}}`.",
    **_TEMPLATE_FIELDS,
)


class BatchBody(BatchIn):
    tasks: Annotated[list[TaskIn], Field(min_length=1, max_length=BATCH_LIMIT)]


class ScheduleBody(ScheduleIn):
    task: TaskTemplateIn  # type: ignore[valid-type]
