"""The Python client: submit, follow, change, cancel and retry tasks; manage schedules."""

from duetime.client.bulk import BulkResult, NotChanged, TaskFilter
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
    ChangeFields,
    DeadFilter,
    NotRedriven,
    Redriven,
    Submitted,
    Task,
    TaskFields,
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
    "BulkResult",
    "ChangeFields",
    "Client",
    "Created",
    "DeadFilter",
    "DeadLetters",
    "DstNote",
    "Expected",
    "FieldError",
    "LedgerPage",
    "NotChanged",
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
