"""Handlers for the benchmarks."""

import time
from typing import Any

from duetime import Context, Snooze, task


@task("bench.noop")
def noop(_: Any, __: Context) -> None:
    """Does nothing."""


@task("bench.stamp")
def stamp(_: Any, __: Context) -> float:
    """Returns when the handler began."""
    return time.time()


@task("bench.flaky")
def flaky(_: Any, ctx: Context) -> None:
    """Fails at its first attempt."""
    if ctx.attempt == 1:
        raise ConnectionError("connection refused")


@task("bench.broken")
def broken(_: Any, __: Context) -> None:
    raise ConnectionError("connection refused")


@task("bench.nap")
def nap(seconds: float, _: Context) -> None:
    time.sleep(seconds)


@task("bench.again")
def again(seconds: float, _: Context) -> None:
    """Runs again after so many seconds, without end."""
    raise Snooze(seconds)
