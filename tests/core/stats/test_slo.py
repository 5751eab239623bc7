"""Objectives for drift: their text, and what is left of their budget."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome
from duetime.core.metrics import ChangeMetrics
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.stats.histogram import BOUNDS
from duetime.core.stats.slo import (
    DEFAULT,
    WORST,
    Compliance,
    Objective,
    compliance,
    parse_objectives,
)
from duetime.core.times import DAY, HOUR, MINUTE, SECOND, Millis
from tests.factories import NOW


def starts(at: Millis, *drifts: Millis, lane: Lane = Lane.HIGH) -> LaneCounts:
    counts = Counts()
    for drift in drifts:
        counts.add(
            ChangeMetrics(
                lane=lane, at=at, outcome=Outcome.SUCCEEDED, drift_ms=drift, known_ahead=True
            )
        )
    return LaneCounts(start=at, lane=lane, counts=counts)


def found(
    hours: list[LaneCounts], minutes: list[LaneCounts], objective: Objective = DEFAULT
) -> Compliance:
    return compliance(Lane.HIGH, objective, hours=hours, minutes=minutes, now=NOW)


def test_objectives_are_read_for_all_lanes_and_for_one():
    one = parse_objectives("99.9%/0.5s")
    assert set(one.values()) == {Objective(share=0.999, drift_ms=500)}

    some = parse_objectives("95%/10s, high=99%/1s")
    assert some[Lane.HIGH] == Objective(share=0.99, drift_ms=SECOND)
    assert some[Lane.LOW] == Objective(share=0.95, drift_ms=10 * SECOND)
    assert parse_objectives("high=90%/5s")[Lane.LOW] == DEFAULT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not an objective such as 99%/1s or high=99.9%/0.5s"),
        ("99/1s", "'99/1s' is not an objective"),
        ("99%", "'99%' is not an objective"),
        ("fast=99%/1s", "'fast' is not a lane: high, medium, low"),
        ("100%/1s", "100% must be over 0% and under 100%"),
        ("0%/1s", "0% must be over 0% and under 100%"),
        ("99%/3s", "'3s' must be one of 0.001s, 0.002s"),
        ("99%/soon", "'soon' is not a duration"),
        ("99%/1s,98%/2s", "'98%/2s' is the second objective of its lane"),
    ],
)
def test_objective_that_cannot_be_read_is_refused_with_the_reason(text: str, reason: str):
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse_objectives(text)


@given(st.lists(st.integers(0, 200_000), min_size=1), st.sampled_from(BOUNDS))
def test_good_and_total_are_exact_at_every_bound(drifts: list[int], bound: Millis):
    lane = found([starts(NOW - HOUR, *drifts)], [], Objective(share=0.99, drift_ms=bound))

    assert (lane.good, lane.total) == (sum(d <= bound for d in drifts), len(drifts))
    assert lane.share == lane.good / lane.total


def test_budget_is_spent_by_late_tasks():
    on_time, late = [5] * 199, [2 * SECOND]
    assert found([starts(NOW, *on_time, 5)], []).budget_left == 1
    assert found([starts(NOW, *on_time, *late)], []).budget_left == pytest.approx(0.5)
    assert found([starts(NOW, 5, *late)], []).budget_left == pytest.approx(-49)


def test_lane_without_tasks_has_no_share_and_burns_nothing():
    lane = found([], [])

    assert (lane.share, lane.budget_left, lane.total) == (None, None, 0)
    assert lane.burn == {"1h": 0, "6h": 0, "3d": 0}
    assert lane.worst_minutes == []


def test_burn_is_the_late_share_of_a_window_in_budgets():
    late, on_time = 2 * SECOND, [1] * 99
    minutes = [
        starts(NOW - 30 * MINUTE, *on_time, late),  # 1 % late: the budget, exactly
        starts(NOW - 2 * HOUR, *on_time, 1),
    ]
    hours = [starts(NOW - HOUR, *on_time, late), starts(NOW - 4 * DAY, late)]
    burn = found(hours, minutes).burn

    assert burn["1h"] == pytest.approx(1)
    assert burn["6h"] == pytest.approx(0.5)
    assert burn["3d"] == pytest.approx(1)


def test_worst_minutes_come_first_and_are_few():
    minutes = [starts(NOW - n * MINUTE, *([2 * SECOND] * (n % 4)), 1) for n in range(20)]
    worst = found([], minutes).worst_minutes

    assert [minute.late for minute in worst] == [3] * WORST
    assert [minute.at for minute in worst] == [NOW - n * MINUTE for n in (3, 7, 11, 15, 19)]
    assert {minute.of for minute in worst} == {4}


def test_other_lanes_and_tasks_known_too_late_do_not_count():
    spontaneous = Counts()
    spontaneous.add(ChangeMetrics(lane=Lane.HIGH, at=NOW, drift_ms=9 * SECOND))
    hours = [
        starts(NOW, 9 * SECOND, lane=Lane.LOW),
        LaneCounts(start=NOW, lane=Lane.HIGH, counts=spontaneous),
    ]

    assert found(hours, hours).total == 0
