"""Duetime runs work when it is due.

What a handler needs::

    from duetime import Context, task

    @task("reports.daily")
    def daily(payload, ctx: Context):
        ...
"""

from lambdas.core.errors import DuetimeError, PermanentError, RetryLater, Snooze
from lambdas.executor.context import Context
from lambdas.executor.stopping import Stopped
from lambdas.registry import task
from lambdas.version import VERSION

__version__ = VERSION

for _public in (DuetimeError, PermanentError, RetryLater, Snooze, Stopped):
    _public.__module__ = __name__  # as users know them, in their tracebacks

__all__ = [
    "Context",
    "DuetimeError",
    "PermanentError",
    "RetryLater",
    "Snooze",
    "Stopped",
    "__version__",
    "task",
]
