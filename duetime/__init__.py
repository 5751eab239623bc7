"""Duetime runs work when it is due.

A handler is a function with a name. It can be called, and submitted as a task. A client submits
tasks of every other kind, and reads all of them::

    from datetime import date

    from duetime import Client, Context, task, use

    @task("reports.daily", priority="low")
    def daily(ctx: Context, *, day: date) -> int:
        ...

    with Client() as client, use(client):
        submission = daily.submit_in("1h", day=date(2026, 11, 17))
        print(client.get(submission.id)["status"])

Each name is imported on first use, so that importing `duetime.core.task` loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duetime.version import VERSION as __version__

if TYPE_CHECKING:
    from duetime.client.async_client import AsyncClient
    from duetime.client.client import Client
    from duetime.client.current import use
    from duetime.client.errors import (
        ApiError,
        BadAddress,
        BadArgument,
        Conflict,
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
    from duetime.core.errors import (
        BadPayload,
        DuetimeError,
        PermanentError,
        RateLimited,
        RetryLater,
        Snooze,
        Stopped,
        Unavailable,
        WaitInsideHandler,
    )
    from duetime.handlers.context import Context, context
    from duetime.handlers.handler import Handler
    from duetime.handlers.registry import task
    from duetime.handlers.schedules import after, cron, every
    from duetime.handlers.submission import Problem, Submission
    from duetime.workflows.builder import workflow

_MODULES = {
    "AsyncClient": "duetime.client.async_client",
    "Client": "duetime.client.client",
    **dict.fromkeys(("Context", "context"), "duetime.handlers.context"),
    "Handler": "duetime.handlers.handler",
    **dict.fromkeys(("Problem", "Submission"), "duetime.handlers.submission"),
    "use": "duetime.client.current",
    "task": "duetime.handlers.registry",
    "workflow": "duetime.workflows.builder",
    **dict.fromkeys(("after", "cron", "every"), "duetime.handlers.schedules"),
    **dict.fromkeys(
        (
            *("BadPayload", "DuetimeError", "PermanentError", "RetryLater", "Snooze", "Stopped"),
            *("RateLimited", "Unavailable", "WaitInsideHandler"),
        ),
        "duetime.core.errors",
    ),
    **dict.fromkeys(
        (
            *("ApiError", "BadAddress", "BadArgument", "Conflict", "Invalid", "NotFound"),
            *("NotSigned", "StillGoing", "TaskCancelled", "TaskDead", "TaskExpired"),
            *("TaskFailed", "Throttled", "TooLarge", "Unreachable", "WaitTimeout"),
        ),
        "duetime.client.errors",
    ),
}

__all__ = [
    "ApiError",
    "AsyncClient",
    "BadAddress",
    "BadArgument",
    "BadPayload",
    "Client",
    "Conflict",
    "Context",
    "DuetimeError",
    "Handler",
    "Invalid",
    "NotFound",
    "NotSigned",
    "PermanentError",
    "Problem",
    "RateLimited",
    "RetryLater",
    "Snooze",
    "StillGoing",
    "Stopped",
    "Submission",
    "TaskCancelled",
    "TaskDead",
    "TaskExpired",
    "TaskFailed",
    "Throttled",
    "TooLarge",
    "Unavailable",
    "Unreachable",
    "WaitInsideHandler",
    "WaitTimeout",
    "__version__",
    "after",
    "context",
    "cron",
    "every",
    "task",
    "use",
    "workflow",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
