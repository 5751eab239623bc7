"""The Python client: submit, follow, change, cancel and retry tasks; manage schedules."""

from duetime.client.bulk import BulkResult, NotChanged
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
    Purged,
    Redriven,
    SecretReference,
    Submitted,
    Task,
    TaskFields,
    TaskFilter,
    TaskPage,
    UniqueFields,
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
    "Purged",
    "Redriven",
    "Schedule",
    "ScheduleFields",
    "SchedulePage",
    "Schedules",
    "SecretReference",
    "StillGoing",
    "Submitted",
    "Task",
    "TaskFields",
    "TaskFilter",
    "TaskPage",
    "Throttled",
    "UniqueFields",
    "Unreachable",
    "Upcoming",
    "fields_of",
]
