from collections.abc import Iterator

import pytest

from duetime.testing import World, world
from tests.testing import shop


@pytest.fixture(autouse=True)
def _a_new_shop() -> None:
    shop.stock.clear()
    shop.seen.clear()


@pytest.fixture
def w() -> Iterator[World]:
    with world() as opened:
        yield opened
