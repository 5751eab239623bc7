"""Submit, follow, cancel and retry tasks from Python."""

from duetime.client.client import Client
from duetime.client.dead_letters import DeadLetters
from duetime.client.errors import ApiError, BadAddress, FieldError, StillGoing, Unreachable
from duetime.client.shapes import (
    Attempt,
    BatchResult,
    DeadFilter,
    NotRedriven,
    Redriven,
    Submitted,
    Task,
    TaskFields,
    TaskPage,
)
from duetime.client.wire import PAGE

__all__ = [
    "PAGE",
    "ApiError",
    "Attempt",
    "BadAddress",
    "BatchResult",
    "Client",
    "DeadFilter",
    "DeadLetters",
    "FieldError",
    "NotRedriven",
    "Redriven",
    "StillGoing",
    "Submitted",
    "Task",
    "TaskFields",
    "TaskPage",
    "Unreachable",
]
