"""Handlers that succeed, fail until something is fixed, or run until they are stopped."""

from pathlib import Path
from typing import Any

from duetime import Context, task


@task("shop.greet")
def greet(payload: Any, _: Context) -> dict[str, Any]:
    """Greets a customer."""
    return {"greeting": f"Hello, {payload['name']}!", "order": payload.get("order")}


@task("shop.restock")
def restock(payload: Any, _: Context) -> str:
    """Fails while the file `missing` is there."""
    if Path(payload["missing"]).exists():
        raise ValueError(f"no such item {payload['item']!r} in shelf {payload['shelf']}")
    return "restocked"


@task("shop.inventory", timeout=600)
def inventory(_: Any, context: Context) -> str:
    """Runs until it is stopped, and says how far it is."""
    page = 0
    while not context.cancelled:
        page += 1
        context.progress(min(page / 100, 1), f"page {page}")
        context.heartbeat()
    raise RuntimeError("stopped")
