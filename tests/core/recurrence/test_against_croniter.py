"""croniter as a reference for the calendar, in UTC, which has no daylight saving."""

from datetime import UTC, datetime
from random import Random

import pytest
from croniter import CroniterBadDateError, croniter

from duetime.core.recurrence.cron_pattern import firing
from duetime.core.recurrence.rules import BadRule, Seconds
from tests.core.recurrence.strategies import END, START, an_expression


def its_own_way(fields: list[str]) -> bool:
    """Whether croniter breaks its own rule that either day is enough: it lets # and L in the
    weekday decide alone, and gives up if the day of the month never comes."""
    rare = fields[2] in ("29", "30", "31") and fields[3] != "*"
    return "*" not in (fields[2], fields[4]) and (any(c in fields[4] for c in "#l") or rare)


def test_croniter_gives_the_same_local_times():
    chance = Random(7)
    compared = 0
    for _ in range(3_000):
        fields, at = an_expression(chance), chance.randint(START, END)
        if its_own_way(fields) or (len(fields) == 6 and "7" in fields[4]):
            continue
        try:
            seconds = Seconds.LAST if len(fields) == 6 else None
            found = firing(" ".join(fields), seconds).first(at + 1)
        except BadRule:
            continue
        assert found == croniter(" ".join(fields), at).get_next(), (fields, at)
        compared += 1
    assert compared > 2_000


@pytest.mark.parametrize(
    "expression", ["0 0 15w * *", "0 0 31w * *", "0 0 1w * *", "0 9 1w 2,5,8 *"]
)
def test_croniter_gives_the_same_nearest_weekday(expression):
    witness = croniter(expression, START)
    at = START
    for _ in range(300):
        at = firing(expression).first(at + 1)
        assert at == witness.get_next()


def test_either_day_is_enough_for_an_nth_weekday_too():
    """croniter would let the first Monday decide alone."""
    pattern = firing("0 0 3 * mon#1")
    june = int(datetime(2026, 6, 1, tzinfo=UTC).timestamp())
    found = [june]
    for _ in range(3):
        found.append(pattern.first(found[-1] + 1))

    days = [datetime.fromtimestamp(at, UTC).strftime("%d %b") for at in found]
    assert days == ["01 Jun", "03 Jun", "03 Jul", "06 Jul"]
    assert croniter("0 0 3 * mon#1", june).get_next() == found[3]


def test_either_day_is_enough_even_if_the_other_never_comes():
    """croniter would find no next date."""
    found = firing("0 0 31 2 mon").first(int(datetime(2026, 6, 1, tzinfo=UTC).timestamp()))

    assert datetime.fromtimestamp(found, UTC) == datetime(2027, 2, 1, tzinfo=UTC)
    with pytest.raises(CroniterBadDateError):
        croniter("0 0 31 2 mon", found).get_next()
