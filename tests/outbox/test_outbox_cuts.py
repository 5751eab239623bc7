"""A drain dies before or after each of its calls to the database and to Duetime.

The scenario has every kind of row: new ones, one that Duetime refuses, one whose old id was never
stored and one whose old id was. After the death other drains follow, soon or when the ids are old.
Every task is stored once, and only the refused row is left."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from duetime.core.ids import new_id
from duetime.core.times import MINUTE
from duetime.outbox.rows import CLAIM
from tests.outbox.shop import Shop

LONG_AGO = 20 * MINUTE


class Died(Exception):
    """Raised by every call of a process that has died."""


class Process:
    """Dies at call number `at`: before it is carried out, or after."""

    def __init__(self, at: int, *, after: bool) -> None:
        self._at, self._after, self._calls = at, after, count()
        self.dead = False

    def call(self, act: Any, *args: Any) -> Any:
        if self.dead:
            raise Died
        here = next(self._calls) == self._at
        self.dead = here and not self._after
        if self.dead:
            raise Died
        try:
            return act(*args)
        finally:
            self.dead = here
            if self.dead:
                raise Died


class Wrapped:
    """An object whose named methods belong to the process; a connection has cursors too."""

    def __init__(self, inner: Any, process: Process, *methods: str) -> None:
        self._inner, self._process, self._methods = inner, process, methods
        self.dbapi_connection = inner

    def cursor(self) -> "Wrapped":
        return Wrapped(self._inner.cursor(), self._process, "execute")

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._methods:
            return found
        return lambda *args: self._process.call(found, *args)


def fill(shop: Shop) -> None:
    shop.add("shop.restock", "stored before")
    stored = new_id(shop.world.clock.now(), 1)
    body = json.loads(shop.execute("SELECT body FROM duetime_outbox")[0][0])
    shop.client.submit(**body, id=stored)
    shop.execute(f"UPDATE duetime_outbox SET task_id = '{stored}'")
    shop.add("shop.restock", "old id")
    never = new_id(shop.world.clock.now(), 2)
    shop.execute(f"UPDATE duetime_outbox SET task_id = '{never}' WHERE task_id IS NULL")
    shop.world.advance(LONG_AGO)
    for payload in ("a", "b"):
        shop.add("shop.restock", payload)
    shop.add("shop.unknown", "refused")


def die(shop: Shop, at: int, *, after: bool) -> bool:
    """Returns whether the drain had so many calls."""
    process = Process(at, after=after)
    client = Wrapped(shop.client, process, "submit_batch", "get")

    def connect() -> Wrapped:
        return Wrapped(shop.connect(), process, "execute", "commit", "rollback")

    try:
        shop.outbox.drain(connect, client)  # type: ignore[arg-type]
    except Died:
        return True
    return False


def cuts(shop: Shop, *, after: bool) -> Iterator[int]:
    for at in count():
        shop.execute("DELETE FROM duetime_outbox")
        stored = len(shop.tasks())
        fill(shop)
        if not die(shop, at, after=after):
            return
        yield at
        assert len(shop.tasks()) == stored + 4, f"cut {at}"


def drain_all(shop: Shop) -> None:
    for _ in range(3):
        shop.drain()
        shop.world.advance(CLAIM)


@pytest.mark.parametrize(
    "connect", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
@pytest.mark.parametrize("pause", [CLAIM, LONG_AGO], ids=["soon", "ids are old"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_drain_that_dies_at_any_call_loses_and_doubles_nothing(
    shop: Shop, after: bool, pause: int
) -> None:
    number = 0
    for number in cuts(shop, after=after):
        shop.world.advance(pause)
        drain_all(shop)
        [(payload, _, error)] = shop.rows()
        assert (payload, bool(error)) == ("refused", True), f"cut {number}"
        once = ["a", "b", "old id", "stored before"]
        assert shop.tasks() == sorted(once * (number + 1)), f"cut {number}"
    assert number > 20
