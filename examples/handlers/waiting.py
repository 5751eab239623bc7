"""Handlers that know when they want to be run again.

duetime submit --handler orders.collect --payload '{"ready_after": 3}' --watch
duetime submit --handler prices.fetch --payload '{"wait": 5}' --watch
"""

from typing import Any

from duetime import Context, RetryLater, Snooze, task


@task("orders.collect")
def collect(payload: Any, ctx: Context) -> dict[str, int]:
    """Nothing has failed, it is just too soon: a snooze uses up no attempt."""
    if ctx.attempt <= payload["ready_after"]:
        raise Snooze(2, "the order is not packed yet")
    return {"looked": ctx.attempt}


@task("prices.fetch")
def fetch(payload: Any, ctx: Context) -> dict[str, int]:
    """A service that says how long it wants to be left alone; that does use up an attempt."""
    if ctx.attempt == 1:
        raise RetryLater(payload["wait"], "the service asked for patience")
    return {"attempts": ctx.attempt}
