"""Hypothesis strategies for rules and plans."""

from hypothesis import strategies as st

from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import RateRule, Recurrence
from duetime.core.schedules.plan import Misfire, MisfirePolicy, Plan
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.core.recurrence.cron_cases import a_cron
from tests.factories import NOW, a_spec

ZONES = ["UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe"]
EXPRESSIONS = [
    "* * * * *",
    "*/7 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "15 9 * * 1-5",
    "0 0 1 * *",
    "0 3 * * 0 20",
]
LENGTHS = [SECOND, 7 * SECOND, 10 * SECOND, MINUTE, 13 * MINUTE, HOUR, DAY]

crons = st.builds(a_cron, st.sampled_from(EXPRESSIONS), st.sampled_from(ZONES))
rates = st.builds(
    RateRule, every=st.sampled_from(LENGTHS[2:]), anchor=st.integers(NOW - DAY, NOW + HOUR)
)
recurrences = st.lists(crons | rates, min_size=1, max_size=2).map(
    lambda rules: Recurrence(rules=tuple(rules))
)
misfires = st.builds(
    Misfire,
    policy=st.sampled_from(MisfirePolicy),
    grace=st.sampled_from([0, MINUTE, HOUR]),
    window=st.none() | st.sampled_from([10 * MINUTE, HOUR]),
    per_minute=st.sampled_from([1.0, 60.0, 600.0]),
)
plans = st.builds(
    Plan,
    recurrence=recurrences,
    task=st.just(a_spec(run_at=0)),
    starts_at=st.none() | st.integers(NOW, NOW + 2 * HOUR),
    ends_at=st.none() | st.integers(NOW + HOUR, NOW + 3 * DAY),
    max_runs=st.none() | st.integers(1, 30),
    misfire=misfires,
    overlap=st.sampled_from(OverlapPolicy),
)
