"""The test kit: a whole Duetime in one thread, with a clock that the test moves.

`world()` opens it, and so does the fixture `duetime_world` of the pytest plugin. `roles.py` has the
real roles on the SQLite store in memory and drives them from event to event; `worlds.py` is what a
test uses. `perform` runs one attempt of a handler.

Each name is imported on first use, so that the pytest plugin costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duetime.core.errors import WaitInsideHandler
    from duetime.testing.errors import TooManyRuns, UndeclaredRequest, UndeclaredTarget
    from duetime.testing.http_routes import HttpCall, HttpRoutes, Reply, Route
    from duetime.testing.records import AttemptRecord, Failure, LedgerEntry, TaskRecord
    from duetime.testing.single_attempt import perform
    from duetime.testing.worlds import World, world

_NAMES = {
    "duetime.core.errors": ("WaitInsideHandler",),
    "duetime.testing.errors": ("TooManyRuns", "UndeclaredRequest", "UndeclaredTarget"),
    "duetime.testing.http_routes": ("HttpCall", "HttpRoutes", "Reply", "Route"),
    "duetime.testing.single_attempt": ("perform",),
    "duetime.testing.records": ("AttemptRecord", "Failure", "LedgerEntry", "TaskRecord"),
    "duetime.testing.worlds": ("World", "world"),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AttemptRecord",
    "Failure",
    "HttpCall",
    "HttpRoutes",
    "LedgerEntry",
    "Reply",
    "Route",
    "TaskRecord",
    "TooManyRuns",
    "UndeclaredRequest",
    "UndeclaredTarget",
    "WaitInsideHandler",
    "World",
    "perform",
    "world",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
