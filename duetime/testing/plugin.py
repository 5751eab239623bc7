"""The pytest plugin: the fixture `duetime_world`, and the marker that sets its options."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from duetime.testing.worlds import World


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        'duetime(**options): options of the fixture duetime_world, such as mode="inline"',
    )


@pytest.fixture
def duetime_world(request: pytest.FixtureRequest) -> "Iterator[World]":
    """A whole Duetime in this thread; handlers submit to it. `@pytest.mark.duetime(…)` gives it the
    options of `duetime.testing.world`."""
    from duetime.testing.worlds import world

    marker = request.node.get_closest_marker("duetime")
    with world(**(marker.kwargs if marker else {})) as opened:
        yield opened
