"""What is told beforehand is what really fires, through four changes of the clock."""

from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from lambdas.core.recurrence.rules import CronRule, Gap, Overlap, RateRule, Recurrence
from lambdas.core.schedules.changes import create
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.times import upcoming
from lambdas.core.times import DAY, HOUR, YEAR, Millis
from lambdas.materialise import materialise
from tests.core.recurrence.draws import PLACES
from tests.core.schedules.stand_ins import Table
from tests.factories import NOW, RULES, a_spec, an_id

TWICE_TOLD = 10  # fire times that are told at every step

crons = st.builds(
    CronRule,
    expression=st.sampled_from(
        ["30 2 * * *", "0 0 * * *", "15 1,2 * * 0", "*/30 0-3 * 3,4,9-11 6,0", "0 12 l * *"]
    ),
    timezone=st.sampled_from(PLACES),
    gap=st.none() | st.sampled_from(Gap),
    overlap=st.none() | st.sampled_from(Overlap),
)
rates = st.builds(
    RateRule, every=st.integers(10 * HOUR, 90 * DAY), anchor=st.integers(NOW - DAY, NOW + DAY)
)


def walked(table: Table, schedule_id: str, until: Millis) -> list[Millis]:
    """The clock is set to every wake in turn; the fire times that became tasks. Meanwhile what
    comes next is told as it will come."""
    told: list[Millis] = []
    while (found := table.standing[schedule_id]).wake and found.wake.at <= until:
        table.clock.advance(found.wake.at - table.now)
        told += islice(upcoming(found, table.now), TWICE_TOLD)
        materialise(table.ports, [found], now=table.now)
    fired = sorted(t.spec.occurrence.scheduled_for for t in table.tasks.values())
    assert {at for at in told if at <= until} <= set(fired)
    return fired


@settings(max_examples=20)
@given(st.lists(crons | rates, min_size=1, max_size=2), st.none() | st.integers(1, 500))
def test_upcoming_is_what_fires(rules, max_runs):
    table, until = Table(), NOW + 2 * YEAR
    plan = Plan(recurrence=Recurrence(rules=tuple(rules)), task=a_spec(run_at=0), max_runs=max_runs)
    made = create(RULES, an_id(), plan, table.now)
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
