import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.core.recurrence.codec import decode_recurrence, encode_recurrence
from lambdas.core.recurrence.rules import (
    CronRule,
    DelayRule,
    ExcludedDates,
    Gap,
    Overlap,
    RateRule,
    Recurrence,
)
from tests.core.recurrence.said import a_cron, recurring

names = st.sampled_from(["UTC", "Europe/Berlin"])
crons = st.builds(
    CronRule,
    expression=st.text(),
    timezone=names,
    gap=st.none() | st.sampled_from(Gap),
    overlap=st.none() | st.sampled_from(Overlap),
)
rates = st.builds(RateRule, every=st.integers(1), anchor=st.integers())
delays = st.builds(DelayRule, delay=st.integers(1))
dates = st.builds(ExcludedDates, dates=st.lists(st.text()).map(tuple), timezone=names)
recurrences = st.builds(
    Recurrence,
    rules=st.lists(crons | rates | delays).map(tuple),
    exclude=st.lists(crons | dates).map(tuple),
)


@given(recurrences)
def test_a_recurrence_survives_being_written_down(recurrence):
    written = json.loads(json.dumps(encode_recurrence(recurrence)))

    assert decode_recurrence(written) == recurrence


@pytest.mark.parametrize(
    ("recurrence", "written"),
    [
        (recurring("0 9 * * *"), [[["cron", "0 9 * * *"]]]),
        (
            recurring(a_cron("0 9 * * *", "Europe/Berlin", overlap=Overlap.LAST)),
            [[["cron", "0 9 * * *", "Europe/Berlin", None, "last"]]],
        ),
        (
            recurring(RateRule(every=5, anchor=7), DelayRule(delay=9)),
            [[["rate", 5, 7], ["delay", 9]]],
        ),
        (
            recurring("0 9 * * *", exclude=(ExcludedDates(dates=("2026-12-25",)),)),
            [[["cron", "0 9 * * *"]], [["dates", ["2026-12-25"]]]],
        ),
    ],
)
def test_defaults_are_left_out(recurrence, written):
    assert encode_recurrence(recurrence) == written


@pytest.mark.parametrize(
    "written", [["cron"], ["cron", "*", 1, 2, 3, 4], ["rate", 1], ["what"], []]
)
def test_what_is_no_rule_is_not_read_as_one(written):
    with pytest.raises(ValueError, match="not a rule"):
        decode_recurrence([[written]])
