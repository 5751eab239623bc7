"""A sync of declared schedules, cut before and after every call, and overtaken at every call."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from duetime.aws import clients
from duetime.core.schedules import apps as rules
from duetime.local.moto_backend import fair_moto
from tests import backends
from tests.cuts.sync_scenarios import (
    AFTER,
    NEWEST,
    count_calls,
    cut,
    is_declared,
    overtaken,
    prepared,
)
from tests.factories import an_id

OpenStores = Callable[[], Any]
Both = pytest.mark.parametrize("prune", [False, True], ids=["pause", "prune"])
Where = pytest.mark.parametrize("where", ["before", "after"])


@pytest.fixture(scope="module")
def dynamodb() -> Iterator[Any]:
    with fair_moto():
        yield clients.dynamodb()


@pytest.fixture(params=["sqlite", pytest.param("moto", marks=pytest.mark.moto_cuts)])
def open_stores(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStores:
    if request.param == "sqlite":
        return lambda: backends.sqlite_stores(tmp_path / f"{an_id()}.db")
    client = request.getfixturevalue("dynamodb")
    return lambda: backends.dynamo_stores(client)


@Both
@Where
def test_sync_that_was_cut_and_repeated_ends_in_the_declared_state(
    open_stores: OpenStores, where: str, prune: bool
):
    for number in range(count_calls(open_stores, prune=prune)):
        with prepared(open_stores) as world:
            generation = world.take()
            cut(world, number, where, generation, prune=prune)

            assert world.sync(AFTER, generation, prune=prune).status == 200

            state = world.state()
            assert is_declared(state, AFTER), (number, state)
            assert ("removed" in state) == (not prune)


def abandoned(open_stores: OpenStores, where: str) -> list[int]:
    """Returns the calls after which a sync that is never repeated spoils a newer one."""
    spoiled = []
    for number in range(count_calls(open_stores)):
        with prepared(open_stores) as world:
            cut(world, number, where, world.take())
            assert world.sync(NEWEST, world.take()).status == 200
            if not is_declared(world.state(), NEWEST):
                spoiled.append(number)
    return spoiled


@Where
def test_sync_that_was_cut_leaves_nothing_that_a_newer_one_cannot_find(
    open_stores: OpenStores, where: str
):
    assert abandoned(open_stores, where) == []


def overtakings(open_stores: OpenStores) -> list[int]:
    """Returns the calls at which a newer generation can overtake a sync and lose."""
    lost = []
    for number in range(count_calls(open_stores)):
        with prepared(open_stores) as world:
            answer = overtaken(world, number)
            assert answer.status in (200, 409)
            if not is_declared(world.state(), NEWEST):
                lost.append(number)
    return lost


def test_newer_generation_wins_wherever_it_overtakes(open_stores: OpenStores):
    assert overtakings(open_stores) == []


@pytest.fixture
def on_sqlite(tmp_path: Path) -> OpenStores:
    return lambda: backends.sqlite_stores(tmp_path / f"{an_id()}.db")


def test_mutant_without_the_condition_on_the_generation_is_caught(on_sqlite: OpenStores):
    with patch("duetime.sqlite.schedule_store._check_current", lambda *given: None):
        assert overtakings(on_sqlite)


def test_mutant_that_keeps_no_ids_before_it_stores_is_caught(on_sqlite: OpenStores):
    def forgetful(*given: Any, schedules: Any, **named: Any) -> rules.Apps:
        return rules.begin_sync(*given, schedules=(), **named)

    with patch("duetime.api.schedules.sync.begin_sync", forgetful):
        assert abandoned(on_sqlite, "after")
