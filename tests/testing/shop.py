"""Handlers and functions of an application that uses Duetime, for the tests of the kit."""

from dataclasses import dataclass
from datetime import date

import duetime
from duetime import Context, PermanentError, Snooze, task

stock: dict[str, int] = {}
seen: list[object] = []


@dataclass
class Order:
    item: str
    cents: int


@task("kit.remind", retry={"max_attempts": 3, "base_delay": 10, "jitter": 0})
def remind(email: str, day: date = date(2027, 1, 1)) -> str:
    seen.append(email)
    return f"{email} {day.isoformat()}"


@task("kit.restock")
def restock(ctx: Context, *, items: list[str]) -> dict[str, int]:
    """Sets, and does not add: a second run changes nothing."""
    seen.append(ctx.attempt)
    for item in items:
        stock[item] = 1
    return stock


@task("kit.flaky", retry={"max_attempts": 4, "base_delay": 60, "multiplier": 2, "jitter": 0})
def flaky(fails: int) -> int:
    attempt = duetime.context().attempt
    if attempt <= fails:
        raise ValueError(f"attempt {attempt} fails")
    return attempt


@task("kit.broken")
def broken() -> None:
    raise PermanentError("never works")


@task("kit.order")
def order(payload: Order, ctx: Context) -> int:
    return payload.cents


@task("kit.parent")
def parent(names: list[str]) -> int:
    for name in names:
        remind.submit_in("10m", email=name)
    return len(names)


@task("kit.now")
def now_too(name: str) -> None:
    remind.submit(email=name)
    seen.append("parent")


@task("kit.async")
async def answer(question: str) -> str:
    seen.append(question)
    return question.upper()


@task("kit.waits")
def waits() -> str:
    return remind.submit(email="ada@example.com").wait()


@task("kit.snoozes")
def snoozes(until_attempt: int) -> int:
    if len(seen) < until_attempt:
        seen.append("snoozed")
        raise Snooze(3_600)
    return len(seen)


@task("kit.daily")
def daily(ctx: Context) -> str:
    seen.append(ctx.scheduled_for)
    return "done"


@task("kit.isolated", isolated=True)
def isolated() -> None:
    seen.append("in this process")


def sign_up(email: str) -> None:
    remind.submit_in("24h", email=email)
