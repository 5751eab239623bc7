"""The options of a submission: `handler.options(priority="high", key="order-17")`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from uuid import UUID

    from duetime.client.limit_types import LimitUseFields, OnDead
    from duetime.client.types import Moment, Priority, RetryFields, Seconds, UniqueFields

    __all__ = [
        "LimitUseFields",
        "Priority",
        "RetryFields",
        "TaskOptions",
        "check_for_many",
        "fields_of",
    ]

# For one task each: the same key or id for many tasks would make them one.
OF_ONE_TASK = {"idempotency_key": "key", "id": "id"}


class TaskOptions(TypedDict, total=False):
    """Fields of a task: see `POST /v1/tasks` in the API reference. What is left out has the
    handler's default."""

    priority: "Priority"
    pool: str | None  # whose workers run it
    key: "str | UUID"  # idempotency key: a second submission with it returns the first task
    tags: dict[str, str]
    retry: "RetryFields"
    timeout: "Seconds | str"
    jitter: "Seconds | str"
    expires_at: "Moment"
    name: str
    namespace: str
    ordering_key: "str | UUID"
    on_dead: "OnDead"
    limits: "Sequence[LimitUseFields]"
    fairness_key: "str | UUID"
    unique: "UniqueFields"
    id: str
    step: str  # inside a running handler: names the submission, in place of its payload


def fields_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a task. Raises TypeError for an unknown option."""
    from duetime.handlers.defaults import to_seconds

    if unknown := sorted(options.keys() - TaskOptions.__annotations__.keys()):
        known = ", ".join(TaskOptions.__annotations__)
        raise TypeError(f"there is no option {unknown[0]!r}; known: {known}")
    fields = dict(options)
    if "key" in fields:
        fields["idempotency_key"] = fields.pop("key")
    for name in ("timeout", "jitter"):
        if name in fields:
            fields[name] = to_seconds(fields[name])
    return fields


def check_for_many(fields: Mapping[str, Any]) -> None:
    for field, option in OF_ONE_TASK.items():
        if field in fields:
            raise ValueError(f"submit_many: the option {option!r} is for one task")
