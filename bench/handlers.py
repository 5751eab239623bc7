"""Handlers for the benchmarks."""

import time
from typing import Any

from duetime import Context, task


@task("bench.noop")
def noop(_: Any, __: Context) -> None:
    """Nothing at all."""


@task("bench.stamp")
def stamp(_: Any, __: Context) -> float:
    """When the handler really began."""
    return time.time()


@task("bench.flaky")
def flaky(_: Any, ctx: Context) -> None:
    """Fails once."""
    if ctx.attempt == 1:
        raise ConnectionError("connection refused")


@task("bench.broken")
def broken(_: Any, __: Context) -> None:
    raise ConnectionError("connection refused")
