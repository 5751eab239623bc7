"""The keys of a step: its ordering key and the keys of its limits, which may contain references.

A task waits under its keys before its first attempt, so they are filled in when the task is
created. What the keys refer to has ended by then, and every later attempt gets the same values.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from duetime.core.field_values import WORD_RULE, is_word
from duetime.core.limits.definition import LimitUse
from duetime.core.template import finish
from duetime.core.value import value
from duetime.core.workflows.definition import WorkflowStep
from duetime.core.workflows.references import BadReference, Reference, values_in

NOT_IN_A_KEY: Final = "cannot be part of a key, which is filled in before the step starts"


@value(frozen=True, kw_only=True, slots=True)
class StepKeys:
    ordering_key: str | None = None
    limits: tuple[LimitUse, ...] = ()


def key_templates(step: WorkflowStep) -> dict[str, str]:
    """Returns the keys of a step that contain references, by their field."""
    keys = {f"limits.{place}.key": use.key for place, use in enumerate(step.limits)}
    keys["ordering_key"] = step.ordering_key or ""
    return {field: key for field, key in keys.items() if "{{" in key}


def fill_keys(step: WorkflowStep, names: Mapping[str, Any]) -> StepKeys:
    """Returns the keys of a step. Raises BadReference if a value does not fit, and TooLarge."""
    filled = {field: _filled(field, key, names) for field, key in key_templates(step).items()}
    limits = tuple(
        replace(use, key=filled.get(f"limits.{place}.key", use.key))
        for place, use in enumerate(step.limits)
    )
    return StepKeys(ordering_key=filled.get("ordering_key", step.ordering_key), limits=limits)


def fits_in_a_key(reference: Reference, name: str) -> bool:
    """Whether a value is known when a task is created."""
    return reference.root != "callback" and name != "run.status"


def _filled(field: str, template: str, names: Mapping[str, Any]) -> str:
    text: str = finish(template, values_in(template, names), whole=False)
    if not is_word(text):
        raise BadReference(field, f"{WORD_RULE}, once its references are filled in")
    return text
