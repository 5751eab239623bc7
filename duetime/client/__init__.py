"""Submit, follow, cancel and retry tasks from Python; make and look after schedules."""

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
from duetime.client.schedule_shapes import (
    Backfill,
    Expected,
    LedgerPage,
    Schedule,
    ScheduleFields,
    SchedulePage,
    Touch,
    Upcoming,
)
from duetime.client.schedules import Created, Schedules, fields_of
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
    "Backfill",
    "BadAddress",
    "BadArgument",
    "BatchResult",
    "Client",
    "Created",
    "DeadFilter",
    "DeadLetters",
    "Expected",
    "FieldError",
    "LedgerPage",
    "NotRedriven",
    "NotSigned",
    "Redriven",
    "Schedule",
    "ScheduleFields",
    "SchedulePage",
    "Schedules",
    "StillGoing",
    "Submitted",
    "Task",
    "TaskFields",
    "TaskPage",
    "Throttled",
    "Touch",
    "Unreachable",
    "Upcoming",
    "fields_of",
]
