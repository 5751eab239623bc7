"""Submit, follow, cancel and retry tasks from Python."""

from duetime.client.client import Client
from duetime.client.dead_letters import DeadLetters
from duetime.client.errors import (
    ApiError,
    BadAddress,
    BadArgument,
    FieldError,
    NotSigned,
    StillGoing,
    Throttled,
    Unreachable,
)
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
    "BadArgument",
    "BatchResult",
    "Client",
    "DeadFilter",
    "DeadLetters",
    "FieldError",
    "NotRedriven",
    "NotSigned",
    "Redriven",
    "StillGoing",
    "Submitted",
    "Task",
    "TaskFields",
    "TaskPage",
    "Throttled",
    "Unreachable",
]
