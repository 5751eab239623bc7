"""Handlers that submit others. What they do in an attempt is in `plan`, and `notes` is what they
saw."""

import asyncio
from collections.abc import Callable
from typing import Any

from duetime import Context, Submission, WaitInsideHandler, task

plan: list[Callable[[Context], Any]] = []  # for each attempt
notes: list[Any] = []


@task("family.child", priority="low", retry={"max_attempts": 2}, timeout=30, tags={"of": "family"})
def child(ctx: Context, *, n: int = 0, text: str = "") -> int:
    return n


@task("family.parent", retry={"max_attempts": 5, "base_delay": 1, "jitter": 0})
def parent(ctx: Context) -> Any:
    act = plan[min(ctx.attempt, len(plan)) - 1]
    return act(ctx)


@task("family.aparent", retry={"max_attempts": 5, "base_delay": 1, "jitter": 0})
async def aparent(ctx: Context) -> list[str]:
    one = await child.asubmit(n=1)
    later = await child.asubmit_in("1h", n=2)
    many = await child.asubmit_many([{"n": 3}, {"n": 4}])
    notes.append(await one.astatus())
    await asyncio.sleep(0)
    ids = [s.id for s in (one, later, *many) if isinstance(s, Submission)]
    if ctx.attempt == 1:
        raise ConnectionError("after all")
    return ids


@task("family.isolated", isolated=True, retry={"max_attempts": 3, "base_delay": 1, "jitter": 0})
def isolated(ctx: Context) -> dict[str, Any]:
    first = child.submit(n=1)
    named = ctx.submit(child, n=ctx.attempt, step="named")
    if ctx.attempt == 1:
        raise ConnectionError("after both")
    try:
        child.options(priority="urgent").submit(n=2)  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001
        refused = f"{type(error).__name__}: {error}"
    try:
        first.wait()
    except WaitInsideHandler as error:
        waited = str(error)
    return {
        "ids": [first.id, named.id],
        "status": first.status(),
        "refused": refused,
        "waited": waited,
    }


@task("family.step")
def stepped(ctx: Context, *, step: str = "none") -> str:
    return step
