"""An executor over a store in memory, with the tasks that a test submits."""

from collections.abc import Iterator

import pytest

from tests.world import World, sqlite_world


@pytest.fixture
def world() -> Iterator[World]:
    with sqlite_world() as world:
        yield world
