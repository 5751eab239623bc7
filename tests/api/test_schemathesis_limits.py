"""About a hundred requests for each call: every value just inside and outside its limits, every
field missing or of another type, every other method. schemathesis makes the requests while tests
are collected, which takes seconds: `make test` leaves this file out."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, settings
from schemathesis import Case

from duetime.api.openapi.document import ROUTES
from tests.api.fuzzed import FuzzedSystem, fuzzed_system
from tests.api.test_schemathesis import QUICK, SCHEMA, validate

pytestmark = pytest.mark.long


@pytest.fixture
def system() -> Iterator[FuzzedSystem]:
    with fuzzed_system() as system:
        yield system


def at_every_limit(name: str) -> Any:
    @SCHEMA.include(operation_id=name).parametrize()
    @settings(QUICK, phases=[Phase.explicit])
    def send(case: Case, system: FuzzedSystem) -> None:
        validate(case, case.call(app=system.wsgi))

    return send


# Tests of their own: schemathesis gives all operations of one test the same id, and pytest-xdist
# runs an id once.
for route in ROUTES:
    globals()[f"test_{route.operation}_at_every_limit"] = at_every_limit(route.operation)
