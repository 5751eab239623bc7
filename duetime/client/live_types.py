"""The types of live updates."""

from collections.abc import Sequence
from typing import TypedDict

from duetime.client.types import Priority, Progress


class LiveChange(TypedDict):
    """The state of a task after a change. It has no payload, result or message of an error: `get`
    returns these."""

    task_id: str
    namespace: str
    name: str | None
    target: str | None  # the handler or URL, cut if it is long; None if it is not known
    lane: Priority
    before: str | None  # the status before; None for a new task, or if it is not known
    status: str
    attempt: int
    updated_at: str
    due_at: str
    drift_ms: int | None
    outcome: str | None  # of the latest attempt; None, too, for a change that was found by reading
    error_type: str | None
    schedule_id: str | None
    run_id: str | None
    progress: Progress | None  # as far as it is known; pushed only for a `task_id`


class LiveFilter(TypedDict, total=False):
    """Selects changes. A field that is None or left out matches every task. Nothing goes with a
    `task_id` or a `run_id`."""

    task_id: str | None
    run_id: str | None  # of a workflow run: its steps
    namespace: str | None  # "*": all; left out: "default"
    status: str | Sequence[str] | None  # the new one
    handler: str | None
    lane: str | Sequence[str] | None
    schedule_id: str | None
