"""The Python client: submit, follow, cancel and retry tasks; manage schedules."""

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
from duetime.client.schedule_types import (
    Backfill,
    DstNote,
    Expected,
    LedgerPage,
    Schedule,
    ScheduleFields,
    SchedulePage,
    Upcoming,
)
from duetime.client.schedules import Created, Schedules, fields_of
from duetime.client.transport import PAGE
from duetime.client.types import (
    Attempt,
    BatchResult,
    DeadFilter,
    NotRedriven,
    Redriven,
    Submitted,
    Task,
    TaskFields,
    TaskFilter,
    TaskPage,
)

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
    "DstNote",
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
    "TaskFilter",
    "TaskPage",
    "Throttled",
    "Unreachable",
    "Upcoming",
    "fields_of",
]
