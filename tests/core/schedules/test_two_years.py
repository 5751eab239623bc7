"""Announced fire times are those that fire, through four clock changes."""

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime.core.recurrence.rules import CronRule, DstGap, DstOverlap, RateRule, Recurrence
from duetime.core.schedules.changes import create
from duetime.core.schedules.fire_times import upcoming
from duetime.core.schedules.plan import Plan
from duetime.core.times import DAY, HOUR, YEAR, Millis
from duetime.engine.materialise import materialise
from tests.core.recurrence.strategies import PLACES
from tests.core.schedules.fakes import Table
from tests.factories import NOW, WAKE_POLICY, a_spec, an_id

ANNOUNCED = 10  # fire times, at every step

crons = st.builds(
    CronRule,
    expression=st.sampled_from(
        ["30 2 * * *", "0 0 * * *", "15 1,2 * * 0", "*/30 0-3 * 3,4,9-11 6,0", "0 12 l * *"]
    ),
    timezone=st.sampled_from(PLACES),
    gap=st.none() | st.sampled_from(DstGap),
    overlap=st.none() | st.sampled_from(DstOverlap),
)
rates = st.builds(
    RateRule, every=st.integers(10 * HOUR, 90 * DAY), anchor=st.integers(NOW - DAY, NOW + DAY)
)


def walked(table: Table, schedule_id: str, until: Millis) -> list[Millis]:
    """Steps the clock from wake to wake, and returns the fire times that became tasks. At each step
    it checks the announced ones."""
    announced: list[Millis] = []
    while (found := table.stored[schedule_id]).wake and found.wake.at <= until:
        table.clock.advance(found.wake.at - table.now)
        announced += islice(upcoming(found, table.now), ANNOUNCED)
        materialise(table.ports, [found], now=table.now)
    fired = sorted(t.spec.occurrence.scheduled_for for t in table.tasks.values())
    assert {at for at in announced if at <= until} <= set(fired)
    return fired


@pytest.mark.long
@settings(max_examples=20)
@given(st.lists(crons | rates, min_size=1, max_size=2), st.none() | st.integers(1, 500))
def test_upcoming_is_what_fires(rules, max_runs):
    table, until = Table(), NOW + 2 * YEAR
    plan = Plan(recurrence=Recurrence(rules=tuple(rules)), task=a_spec(run_at=0), max_runs=max_runs)
    made = create(WAKE_POLICY, an_id(), plan, table.now)
    table.replace(made)
    ahead = list(upcoming(made, table.now) if max_runs else _until(made, table, until + DAY))

    fired = walked(table, made.id, until)

    assert fired == ahead[: len(fired)]
    assert not [at for at in ahead[len(fired) :] if at <= until]


def _until(made, table, end):
    for at in upcoming(made, table.now):
        if at > end:
            return
        yield at
