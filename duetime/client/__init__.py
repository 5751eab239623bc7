"""The Python clients: submit, follow, change, cancel and retry tasks; manage schedules; run
workflows.

`Client` and `AsyncClient` run the same calls (`calls`), which do no I/O themselves. Each name is
imported on first use: an application that uses `Client` does not wait for the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duetime.client.async_client import AsyncClient
    from duetime.client.async_dead_letters import AsyncDeadLetters
    from duetime.client.async_limits import AsyncLimits
    from duetime.client.async_live import AsyncLive
    from duetime.client.async_runs import AsyncCallbacks, AsyncRuns
    from duetime.client.async_schedules import AsyncSchedules
    from duetime.client.async_workflows import AsyncWorkflows
    from duetime.client.bulk import BulkResult, NotChanged
    from duetime.client.client import Client
    from duetime.client.dead_letter_types import (
        DeadFilter,
        DeadGroup,
        DeadGroups,
        NotRedriven,
        Redriven,
    )
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
    from duetime.client.forecast import DueCount, DueMinute, Forecast
    from duetime.client.limit_types import Limit, LimitPage, LimitRateFields, LimitUseFields
    from duetime.client.limits import Limits
    from duetime.client.live import Live
    from duetime.client.live_types import LiveChange
    from duetime.client.purge import Purged
    from duetime.client.quotas import Quota
    from duetime.client.requests import PAGE
    from duetime.client.runs import Callbacks, Runs
    from duetime.client.schedule_calls import Created, fields_of
    from duetime.client.schedule_types import (
        Backfill,
        DstNote,
        Expected,
        LedgerPage,
        Schedule,
        ScheduleFields,
        SchedulePage,
        SyncPlan,
        SyncStep,
        Upcoming,
    )
    from duetime.client.schedules import Schedules
    from duetime.client.stats import LaneSlo, LaneStats, Slo, Stats, StatsPoint
    from duetime.client.submissions import make_id
    from duetime.client.system_calls import HandlerDescription, Me, Stuck, StuckTask, Worker
    from duetime.client.types import (
        Attempt,
        BatchResult,
        ChangeFields,
        Hint,
        LaneState,
        SecretReference,
        Submitted,
        Task,
        TaskFields,
        TaskFilter,
        TaskPage,
        UniqueFields,
    )
    from duetime.client.workflow_types import (
        Checked,
        MapItem,
        Run,
        RunError,
        RunFields,
        RunFilter,
        RunPage,
        RunStep,
        StepFields,
        SubmittedRun,
        Workflow,
        WorkflowFields,
        WorkflowPage,
    )
    from duetime.client.workflows import Workflows

_NAMES = {
    "duetime.client.async_client": ("AsyncClient",),
    "duetime.client.async_dead_letters": ("AsyncDeadLetters",),
    "duetime.client.async_limits": ("AsyncLimits",),
    "duetime.client.async_schedules": ("AsyncSchedules",),
    "duetime.client.bulk": (
        "BulkResult",
        "NotChanged",
    ),
    "duetime.client.client": ("Client",),
    "duetime.client.dead_letter_types": (
        "DeadFilter",
        "DeadGroup",
        "DeadGroups",
        "NotRedriven",
        "Redriven",
    ),
    "duetime.client.dead_letters": ("DeadLetters",),
    "duetime.client.errors": (
        "ApiError",
        "BadAddress",
        "BadArgument",
        "Conflict",
        "FieldError",
        "Invalid",
        "NotFound",
        "NotSigned",
        "StillGoing",
        "TaskCancelled",
        "TaskDead",
        "TaskExpired",
        "TaskFailed",
        "Throttled",
        "TooLarge",
        "Unreachable",
        "WaitTimeout",
    ),
    "duetime.client.forecast": (
        "DueCount",
        "DueMinute",
        "Forecast",
    ),
    "duetime.client.quotas": ("Quota",),
    "duetime.client.stats": (
        "LaneSlo",
        "LaneStats",
        "Slo",
        "Stats",
        "StatsPoint",
    ),
    "duetime.client.limit_types": (
        "Limit",
        "LimitPage",
        "LimitRateFields",
        "LimitUseFields",
    ),
    "duetime.client.limits": ("Limits",),
    "duetime.client.async_live": ("AsyncLive",),
    "duetime.client.live": ("Live",),
    "duetime.client.live_types": ("LiveChange",),
    "duetime.client.requests": ("PAGE",),
    "duetime.client.schedule_calls": (
        "Created",
        "fields_of",
    ),
    "duetime.client.schedule_types": (
        "Backfill",
        "DstNote",
        "Expected",
        "LedgerPage",
        "Schedule",
        "ScheduleFields",
        "SchedulePage",
        "SyncPlan",
        "SyncStep",
        "Upcoming",
    ),
    "duetime.client.schedules": ("Schedules",),
    "duetime.client.submissions": ("make_id",),
    "duetime.client.system_calls": ("HandlerDescription", "Me", "Stuck", "StuckTask", "Worker"),
    "duetime.client.purge": ("Purged",),
    "duetime.client.types": (
        "Attempt",
        "BatchResult",
        "ChangeFields",
        "Hint",
        "LaneState",
        "SecretReference",
        "Submitted",
        "Task",
        "TaskFields",
        "TaskFilter",
        "TaskPage",
        "UniqueFields",
    ),
    "duetime.client.async_runs": (
        "AsyncCallbacks",
        "AsyncRuns",
    ),
    "duetime.client.async_workflows": ("AsyncWorkflows",),
    "duetime.client.runs": (
        "Callbacks",
        "Runs",
    ),
    "duetime.client.workflow_types": (
        "Checked",
        "MapItem",
        "Run",
        "RunError",
        "RunFields",
        "RunFilter",
        "RunPage",
        "RunStep",
        "StepFields",
        "SubmittedRun",
        "Workflow",
        "WorkflowFields",
        "WorkflowPage",
    ),
    "duetime.client.workflows": ("Workflows",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "PAGE",
    "ApiError",
    "AsyncCallbacks",
    "AsyncClient",
    "AsyncDeadLetters",
    "AsyncLimits",
    "AsyncLive",
    "AsyncRuns",
    "AsyncSchedules",
    "AsyncWorkflows",
    "Attempt",
    "Backfill",
    "BadAddress",
    "BadArgument",
    "BatchResult",
    "BulkResult",
    "Callbacks",
    "ChangeFields",
    "Checked",
    "Client",
    "Conflict",
    "Created",
    "DeadFilter",
    "DeadGroup",
    "DeadGroups",
    "DeadLetters",
    "DstNote",
    "DueCount",
    "DueMinute",
    "Expected",
    "FieldError",
    "Forecast",
    "HandlerDescription",
    "Hint",
    "Invalid",
    "LaneSlo",
    "LaneState",
    "LaneStats",
    "LedgerPage",
    "Limit",
    "LimitPage",
    "LimitRateFields",
    "LimitUseFields",
    "Limits",
    "Live",
    "LiveChange",
    "MapItem",
    "Me",
    "NotChanged",
    "NotFound",
    "NotRedriven",
    "NotSigned",
    "Purged",
    "Quota",
    "Redriven",
    "Run",
    "RunError",
    "RunFields",
    "RunFilter",
    "RunPage",
    "RunStep",
    "Runs",
    "Schedule",
    "ScheduleFields",
    "SchedulePage",
    "Schedules",
    "SecretReference",
    "Slo",
    "Stats",
    "StatsPoint",
    "StepFields",
    "StillGoing",
    "Stuck",
    "StuckTask",
    "Submitted",
    "SubmittedRun",
    "SyncPlan",
    "SyncStep",
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
    "Worker",
    "Workflow",
    "WorkflowFields",
    "WorkflowPage",
    "Workflows",
    "fields_of",
    "make_id",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
