"""Duetime runs work when it is due.

A handler is a function with a name, and a client submits tasks for it::

    from duetime import Client, Context, task

    @task("reports.daily")
    def daily(payload, ctx: Context):
        ...

    with Client() as client:
        target = {"type": "python", "handler": "reports.daily"}
        client.submit(target=target, payload={"day": "2026-11-17"}, delay=3600)

Each name is imported on first use, so that importing `duetime.core.task` loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duetime.version import VERSION as __version__

if TYPE_CHECKING:
    from duetime.client.async_client import AsyncClient
    from duetime.client.client import Client
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
    from duetime.core.errors import DuetimeError, PermanentError, RetryLater, Snooze, Stopped
    from duetime.handlers.context import Context
    from duetime.handlers.registry import task

_MODULES = {
    "AsyncClient": "duetime.client.async_client",
    "Client": "duetime.client.client",
    "Context": "duetime.handlers.context",
    "task": "duetime.handlers.registry",
    **dict.fromkeys(
        ("DuetimeError", "PermanentError", "RetryLater", "Snooze", "Stopped"),
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
    "Client",
    "Conflict",
    "Context",
    "DuetimeError",
    "Invalid",
    "NotFound",
    "NotSigned",
    "PermanentError",
    "RetryLater",
    "Snooze",
    "StillGoing",
    "Stopped",
    "TaskCancelled",
    "TaskDead",
    "TaskExpired",
    "TaskFailed",
    "Throttled",
    "TooLarge",
    "Unreachable",
    "WaitTimeout",
    "__version__",
    "task",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
