"""The task of a schedule, its templates filled in: as far as is known when it is made, and then
when it starts. All of a target is text; a name and tags are final once the task is made."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lambdas.core.occurrence import Occurrence
from lambdas.core.task import Spec, Task
from lambdas.core.template import OF_THE_PREVIOUS, finish, names_in, render
from lambdas.core.times import rfc3339


def made(spec: Spec, occurrence: Occurrence) -> Spec:
    """As it is stored: target and payload are still templates."""
    names = schedule_names(occurrence)
    return replace(
        spec,
        target=render(spec.target, names, whole=False),
        payload=render(spec.payload, names),
        name=_text(spec.name, names),
        tags=finish(spec.tags, names, whole=False),
        occurrence=occurrence,
    )


def started(spec: Spec, previous: Task | None) -> Spec:
    """As it is run; of a task that `made` has made."""
    names = previous_names(previous)
    return replace(
        spec,
        target=finish(spec.target, names, whole=False),
        payload=finish(spec.payload, names),
    )


def asks_for_previous(spec: Spec) -> bool:
    """Whether it is worth looking for the run before."""
    found = (name for part in (spec.target, spec.payload) for _, name in names_in(part))
    return any(name.startswith("previous.") for name in found)


def schedule_names(occurrence: Occurrence) -> dict[str, Any]:
    return {
        "scheduled_for": rfc3339(occurrence.scheduled_for),
        "schedule.id": occurrence.schedule_id,
        "schedule.name": occurrence.name,
    }


def previous_names(task: Task | None) -> dict[str, Any]:
    if task is None:
        return dict.fromkeys(OF_THE_PREVIOUS)
    occurrence = task.spec.occurrence
    return {
        "previous.result": task.result,
        "previous.status": task.status.value,
        "previous.task_id": task.id,
        "previous.scheduled_for": rfc3339(occurrence.scheduled_for) if occurrence else None,
    }


def _text(text: str | None, names: Mapping[str, Any]) -> str | None:
    return None if text is None else str(finish(text, names, whole=False))
