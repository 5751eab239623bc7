"""Submit, follow and cancel tasks from Python."""

from duetime.client.client import PAGE, Client
from duetime.client.errors import ApiError, BadAddress, FieldError, StillGoing, Unreachable
from duetime.client.shapes import Attempt, BatchResult, Submitted, Task, TaskFields, TaskPage

__all__ = [
    "PAGE",
    "ApiError",
    "Attempt",
    "BadAddress",
    "BatchResult",
    "Client",
    "FieldError",
    "StillGoing",
    "Submitted",
    "Task",
    "TaskFields",
    "TaskPage",
    "Unreachable",
]
