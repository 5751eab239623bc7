import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.recurrence.codec import decode_recurrence, encode_recurrence
from duetime.core.recurrence.rules import (
    CronRule,
    DayMatch,
    DelayRule,
    DstGap,
    DstOverlap,
    ExcludedDates,
    RateRule,
    Recurrence,
    Seconds,
)
from tests.core.recurrence.cron_cases import a_cron, recurring

names = st.sampled_from(["UTC", "Europe/Berlin"])
dst = {
    "gap": st.none() | st.sampled_from(DstGap),
    "overlap": st.none() | st.sampled_from(DstOverlap),
}
five = st.builds(
    CronRule,
    expression=st.text().filter(lambda text: len(text.split()) != 6)
    | st.sampled_from(["cron(0 12 * * ? *)", "CRON_TZ=UTC 0 9 * * *"]),
    timezone=names,
    days=st.sampled_from(DayMatch),
    **dst,
)
six = st.builds(
    CronRule,
    expression=st.sampled_from(["0 0 9 * * *", " 0 9 * * * 30 ", "TZ=UTC 0 9 * * * 30"]),
    timezone=names,
    seconds=st.sampled_from(Seconds),
    days=st.sampled_from(DayMatch),
    **dst,
)
crons = five | six
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
            recurring(a_cron("0 9 * * *", "Europe/Berlin", overlap=DstOverlap.LAST)),
            [[["cron", "0 9 * * *", "Europe/Berlin", None, "last"]]],
        ),
        (recurring(a_cron("0 9 * * * 30")), [[["cron", "0 9 * * * 30"]]]),
        (
            recurring(a_cron("0 0 9 * * *", seconds=Seconds.FIRST)),
            [[["cron", "0 0 9 * * *", None, None, None, "first"]]],
        ),
        (
            recurring(a_cron("0 9 13 * fri", days=DayMatch.BOTH)),
            [[["cron", "0 9 13 * fri", None, None, None, None, "both"]]],
        ),
        (recurring("cron(0 12 * * ? *)"), [[["cron", "cron(0 12 * * ? *)"]]]),
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
    "written", [["cron"], ["cron", "*", 1, 2, 3, 4, 5, 6], ["rate", 1], ["what"], []]
)
def test_text_that_is_no_rule_is_refused(written):
    with pytest.raises(ValueError, match="not a rule"):
        decode_recurrence([[written]])


WRITTEN_BEFORE_SECONDS_COULD_BE_SAID = [
    ('[[["cron","0 9 * * 1-5"]]]', recurring("0 9 * * 1-5")),
    ('[[["cron","@daily","Asia/Tokyo"]]]', recurring(a_cron("@daily", "Asia/Tokyo"))),
    (
        '[[["cron","*/5 * * * * 30"],["cron","0 2 * * *","Europe/Berlin","skip","last"]]]',
        recurring(
            a_cron("*/5 * * * * 30", seconds=Seconds.LAST),
            a_cron("0 2 * * *", "Europe/Berlin", gap=DstGap.SKIP, overlap=DstOverlap.LAST),
        ),
    ),
    (
        '[[["cron","0 0 9 * * *",null,null,"both"]],[["cron"," * 12 * * * 0-29 "]]]',
        recurring(
            a_cron("0 0 9 * * *", overlap=DstOverlap.BOTH, seconds=Seconds.LAST),
            exclude=(a_cron(" * 12 * * * 0-29 ", seconds=Seconds.LAST),),
        ),
    ),
]


@pytest.mark.parametrize(("text", "recurrence"), WRITTEN_BEFORE_SECONDS_COULD_BE_SAID)
def test_six_fields_stored_without_seconds_keep_them_last(text, recurrence):
    assert decode_recurrence(json.loads(text)) == recurrence


@pytest.mark.parametrize(("text", "recurrence"), WRITTEN_BEFORE_SECONDS_COULD_BE_SAID)
def test_rules_of_earlier_releases_are_encoded_as_before(text, recurrence):
    """A function of the previous release must be able to read them during a deployment."""
    assert encode_recurrence(recurrence) == json.loads(text)
