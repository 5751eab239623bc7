"""A second opinion on the cost of workflow runs: see test_capacity.py."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from bench.billing.meter import Meter
from duetime.aws import clients
from tests import backends
from tests.contract.test_capacity import SERVERS, ReportedCapacity
from tests.run_costs import ITEM_UNITS, RUN_UNITS, STEP_UNITS, unit_costs
from tests.world import World, moto_world


class BothMeters:
    """The units as our meter counts them and as the server reports them, which must agree."""

    def __init__(self, client: Any) -> None:
        self.meter, self.reported = Meter(), ReportedCapacity()
        self.meter.attach(client)
        self.reported.attach(client)

    def __call__(self) -> float:
        counted = self.meter.take_counts()
        ours = {name: n for name, n in counted.items() if name.startswith("write.")}
        theirs, self.reported.counts = self.reported.counts, Counter()
        assert ours == theirs
        return sum(theirs.values())


@pytest.fixture(params=SERVERS)
def billed(test_credentials: None, moto_sqs: Any) -> Iterator[tuple[World, BothMeters]]:
    client = clients.dynamodb(backends.DYNAMODB_ENDPOINT)
    both = BothMeters(client)
    with (
        backends.a_table(clients.dynamodb(backends.DYNAMODB_ENDPOINT)) as table,
        moto_world(client, moto_sqs, table) as world,
    ):
        yield world, both


def test_server_bills_steps_runs_and_items_as_calculated(billed: tuple[World, BothMeters]):
    a_step, a_run, an_item = unit_costs(*billed)

    assert a_step <= STEP_UNITS
    assert a_run <= RUN_UNITS
    assert an_item <= ITEM_UNITS
