"""Calls that a type checker accepts or refuses. A line that ends with `# refused` must be an error,
and no other line may be one; `reveal_type` lines must show the type in their comment."""

from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict, reveal_type

from duetime import (
    Context,
    Handler,
    Problem,
    Submission,
    after,
    context,
    cron,
    every,
    task,
    workflow,
)


class Order(TypedDict):
    number: int


@task("typed.order", priority="low", retry={"max_attempts": 3}, timeout="2m", tags={"a": "b"})
def order(payload: Order, ctx: Context) -> int:
    return payload["number"]


@task("typed.daily", schedule=cron("0 9 * * 1-5", tz="Europe/Berlin", overlap="skip"))
def daily(ctx: Context) -> None: ...


@task(
    "typed.often",
    schedule=[
        every("10m", name="fast", payload={"full": False}, misfire="run_once"),
        after(300, name="tail", misfire={"policy": "skip", "grace": "5m"}, max_runs=3),
    ],
)
def often(ctx: Context, *, full: bool = True) -> None: ...


@task("typed.later")
async def later(payload: Order, ctx: Context) -> str:
    return "later"


@task("typed.restock")
def restock(ctx: Context, *, items: list[str], dry_run: bool = False) -> dict[str, int]:
    return {}


@task("typed.fetch")
async def fetch(ctx: Context, *, url: str) -> bytes:
    return b""


@task("typed.plain")
def plain(items: list[str], dry_run: bool = False) -> int:
    return context().attempt


@task("typed.awaited")
async def awaited(count: int) -> float:
    return 0.5


@task("typed.alone")
def alone(payload: dict[str, object]) -> None: ...


@task("typed.nothing")
def nothing(ctx: Context) -> None: ...


@task("typed.old")
def old(payload: dict[str, object], _: Context) -> list[int]:
    return []


def results() -> None:
    reveal_type(order.submit({"number": 1}).wait())  # int
    reveal_type(later.submit({"number": 1}).wait())  # str
    reveal_type(restock.submit(items=["tea"]).wait(timeout=60))  # dict[str, int]
    reveal_type(fetch.submit_in("24h", url="https://a").wait())  # bytes
    reveal_type(plain.submit_at(datetime.now(UTC), ["tea"], dry_run=True).wait())  # int
    reveal_type(awaited.options(priority="high", key="a").submit(count=1).wait())  # float
    reveal_type(alone.submit({}).wait())  # None
    reveal_type(old.submit({}).wait())  # list[int]
    reveal_type(restock.submit_many([{"items": []}]))  # list[Submission[dict[str, int]] | Problem]


async def awaiting() -> None:
    submission = await restock.asubmit(items=["tea"])
    reveal_type(await submission.await_())  # dict[str, int]
    reveal_type(await later({"number": 1}, context()))  # str


def calls(ctx: Context) -> None:
    reveal_type(order({"number": 1}, ctx))  # int
    reveal_type(restock(ctx, items=["tea"]))  # dict[str, int]
    reveal_type(plain(["tea"]))  # int
    nothing.submit()
    reveal_type(ctx.submit(restock, items=["tea"]).wait())  # dict[str, int]
    reveal_type(ctx.submit(plain, ["tea"], step="first").wait())  # int
    reveal_type(ctx.submit(restock.options(priority="low"), items=[]).wait())  # dict[str, int]
    restock.options(step="second").submit_in("1h", items=["tea"])
    plain.submit_in(timedelta(hours=1), items=["tea"])
    any_handler: Handler[..., Any] = restock
    listed: list[Submission[int] | Problem] = plain.submit_many([])
    del any_handler, listed


def wrong(ctx: Context) -> None:
    order.submit({"number": "one"})  # refused
    order.submit()  # refused
    order.submit({"number": 1}, ctx)  # refused
    restock.submit(items="tea")  # refused
    restock.submit(itms=["tea"])  # refused
    restock.submit(["tea"])  # refused
    restock.submit_in("24h")  # refused
    restock.submit_in([], items=["tea"])  # refused
    restock.submit_at("tomorrow", items=["tea"])  # refused
    plain.submit([1])  # refused
    plain.submit(["tea"], dry_run="no")  # refused
    awaited.submit(count="one")  # refused
    restock.options(priority="urgent")  # refused
    restock.options(prio="high")  # refused
    restock.options(priority="high").submit(items=[1])  # refused
    restock(items=["tea"])  # refused
    plain([1])  # refused
    task("typed.wrong", priority="urgent")  # refused
    ctx.submit(restock, items=[1])  # refused
    ctx.submit(restock, ["tea"])  # refused
    ctx.submit(restock)  # refused
    ctx.submit("typed.restock", items=["tea"])  # refused
    ctx.submit(restock, items=["tea"], step=1)  # refused
    restock.options(step=1)  # refused
    task("typed.wrong", schedule="@daily")  # refused
    cron("@daily", overlap="never")  # refused
    cron("@daily", colour="red")  # refused
    every()  # refused
    text: str = restock.submit(items=["tea"]).wait()  # refused
    del text


def steps() -> None:
    w = workflow("typed")
    first = w.step("first", restock.call(items=["tea"], dry_run=w.input.dry_run), timeout="5m")
    second = w.step("second", plain.call(first.result.items), needs=[first])
    w.map("each", fetch.call(url=w.item.url), items=first.result.urls, max_concurrency=5)
    w.callback("ask", order.call({"number": 1}), within="3d")
    first >> [second, w.step("nothing", nothing.call())]
    w.step("items", restock.call(items="tea"))  # refused
    w.step("itms", restock.call(itms=first.result))  # refused
    w.step("none", restock.call())  # refused
    w.step("text", order.call({"number": "one"}))  # refused
    w.step("number", plain.call([1]))  # refused
    w.step("option", nothing.call(), run_if="never")  # refused
    w.step("unknown", nothing.call(), prio="high")  # refused
    w.step("order", nothing.call(), needs=["first"])  # refused
