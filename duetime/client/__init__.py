"""The Python clients: submit, follow, change, cancel and retry tasks; manage schedules.

`Client` and `AsyncClient` run the same calls (`calls`), which do no I/O themselves.
"""

from duetime.client.async_client import AsyncClient
from duetime.client.async_dead_letters import AsyncDeadLetters
from duetime.client.async_schedules import AsyncSchedules
from duetime.client.bulk import BulkResult, NotChanged
from duetime.client.client import Client
from duetime.client.dead_letters import DeadLetters
from duetime.client.errors import (
    ApiError,
    BadAddress,
    BadArgument,
    Conflict,
    FieldError,
    Invalid,
    NotFound,
    NotSigned,
    StillGoing,
    TaskCancelled,
    TaskDead,
    TaskExpired,
    TaskFailed,
    Throttled,
    TooLarge,
    Unreachable,
    WaitTimeout,
)
from duetime.client.requests import PAGE
from duetime.client.schedule_calls import Created, fields_of
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
from duetime.client.schedules import Schedules
from duetime.client.submissions import make_id
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
    "AsyncClient",
    "AsyncDeadLetters",
    "AsyncSchedules",
    "Attempt",
    "Backfill",
    "BadAddress",
    "BadArgument",
    "BatchResult",
    "BulkResult",
    "ChangeFields",
    "Client",
    "Conflict",
    "Created",
    "DeadFilter",
    "DeadLetters",
    "DstNote",
    "Expected",
    "FieldError",
    "Invalid",
    "LedgerPage",
    "NotChanged",
    "NotFound",
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
    "TaskCancelled",
    "TaskDead",
    "TaskExpired",
    "TaskFailed",
    "TaskFields",
    "TaskFilter",
    "TaskPage",
    "Throttled",
    "TooLarge",
    "UniqueFields",
    "Unreachable",
    "Upcoming",
    "WaitTimeout",
    "fields_of",
    "make_id",
]
