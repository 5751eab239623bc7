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
