import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.outbox.shop import Shop
from tests.postgresql import a_postgresql
from tests.world import World, sqlite_world


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    with a_postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    if request.param == "sqlite":
        return lambda: sqlite3.connect(tmp_path / "shop.db")
    url = request.getfixturevalue("postgresql")
    return lambda: psycopg.connect(url)


@pytest.fixture
def world() -> Iterator[World]:
    with sqlite_world() as world:
        yield world


@pytest.fixture
def shop(world: World, connect: Callable[[], Any]) -> Shop:
    return Shop(world, connect)
