"""Handlers of every shape, for the tests of submissions."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

import duetime
from duetime import Context, task


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@dataclass(frozen=True)
class Parcel:
    id: UUID
    size: Size
    sent: date


class Row(TypedDict):
    name: str
    at: datetime


class Order(BaseModel):
    number: int = Field(alias="orderNumber")
    at: datetime


@task("shop.parcel")
def parcel(payload: Parcel, ctx: Context) -> Parcel:
    assert isinstance(payload, Parcel)
    return payload


@task("shop.restock", priority="low", retry={"max_attempts": 3}, timeout="2m", tags={"team": "tea"})
def restock(ctx: Context, *, items: list[str], dry_run: bool = False) -> dict[str, int]:
    return dict.fromkeys(items, 0 if dry_run else ctx.attempt)


@task("shop.charge", limits=[{"name": "stripe"}], fairness_key="money")
def charge(account: str) -> str:
    return account


@task("shop.count")
async def count(rows: list[Row], sizes: set[Size] = frozenset()) -> list[datetime]:  # type: ignore[assignment]
    assert duetime.context().attempt == 1
    return [row["at"] for row in rows]


@task("shop.order")
def order(order: Order) -> Order:
    assert isinstance(order, Order)
    return order


@task("shop.echo")
def echo(payload):  # type: ignore[no-untyped-def]
    return payload


@task("shop.more")
def more(first: int = 1, **rest: date) -> list[str]:
    return [str(first), *(f"{name} {day.year}" for name, day in rest.items())]


@task("shop.wrong")
def wrong(items: list[str]) -> dict[str, int]:
    return {item: item for item in items}  # type: ignore[misc]


@task("shop.fails")
def fails() -> Any:
    raise duetime.PermanentError("no tea")
