"""Handlers that choose when they run again.

duetime submit --handler orders.collect --payload '{"ready_after": 3}' --watch
duetime submit --handler prices.fetch --payload '{"wait": 5}' --watch
"""

from typing import Any

from duetime import Context, RetryLater, Snooze, task


@task("orders.collect")
def collect(payload: Any, ctx: Context) -> dict[str, int]:
    """Nothing has failed, it is only too early: a snooze uses up no attempt."""
    if ctx.attempt <= payload["ready_after"]:
        raise Snooze(2, "the order is not packed yet")
    return {"looked": ctx.attempt}


@task("prices.fetch")
def fetch(payload: Any, ctx: Context) -> dict[str, int]:
    """The service says how long to wait; this uses up an attempt."""
    if ctx.attempt == 1:
        raise RetryLater(payload["wait"], "the service asked for a pause")
    return {"attempts": ctx.attempt}
