"""An executor over a store in memory; nothing comes in but what a test submits."""

from collections.abc import Iterator

import pytest

from tests.world import World, embedded_world


@pytest.fixture
def world() -> Iterator[World]:
    with embedded_world() as world:
        yield world
