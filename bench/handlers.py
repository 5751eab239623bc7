"""Handlers for the benchmarks."""

import time
from typing import Any

from duetime import Context, task


@task("bench.noop")
def noop(payload: Any, ctx: Context) -> None:
    """Nothing at all."""


@task("bench.stamp")
def stamp(payload: Any, ctx: Context) -> float:
    """When the handler really began."""
    return time.time()
