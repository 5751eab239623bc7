"""Counts add up: however the changes are divided, the sum is the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.lifecycle import FINISHED, Outcome
from duetime.core.metrics import ChangeMetrics, Path
from duetime.core.stats.counts import (
    DRIFT,
    MAXIMA,
    NUMBERS,
    PLANNED,
    TOOK,
    Counts,
    LaneCounts,
    MinuteCounts,
    total,
)
from duetime.core.stats.series import by_lane, durations, in_steps, summary
from duetime.core.times import HOUR, MINUTE
from tests.factories import NOW

spans = st.none() | st.integers(0, 100_000)
any_metrics = st.builds(
    ChangeMetrics,
    lane=st.sampled_from(Lane),
    at=st.integers(NOW, NOW + HOUR),
    submitted=st.none() | st.sampled_from(Path),
    outcome=st.none() | st.sampled_from(Outcome),
    drift_ms=spans,
    duration_ms=spans,
    known_ahead=st.booleans(),
    end=st.none() | st.sampled_from(sorted(FINISHED)),
)


def counted(metrics: list[ChangeMetrics]) -> Counts:
    counts = Counts()
    for each in metrics:
        counts.add(each)
    return counts


@given(st.lists(any_metrics), st.integers(0, 20))
def test_counts_of_two_parts_are_those_of_the_whole(metrics: list[ChangeMetrics], cut: int):
    parts = [counted(metrics[:cut]), counted(metrics[cut:])]

    assert total(parts) == counted(metrics)


@given(st.lists(any_metrics))
def test_counts_are_those_of_a_list(metrics: list[ChangeMetrics]):
    counts = counted(metrics)

    for outcome in Outcome:
        assert counts.numbers[outcome] == sum(each.outcome is outcome for each in metrics)
    for status in FINISHED:
        assert counts.numbers[status] == sum(each.end is status for each in metrics)
    for path in Path:
        assert counts.numbers[path] == sum(each.submitted is path for each in metrics)
    drifts = [each.drift_ms for each in metrics if each.drift_ms is not None]
    ahead = [m.drift_ms for m in metrics if m.drift_ms is not None and m.known_ahead]
    took = [each.duration_ms for each in metrics if each.duration_ms is not None]
    for kind, measured in ((DRIFT, drifts), (PLANNED, ahead), (TOOK, took)):
        assert sum(counts.histogram(kind)) == len(measured)
        assert counts.numbers[kind.sum] == sum(measured)
        assert counts.longest(kind) == max(measured, default=0)


@given(st.lists(any_metrics))
def test_every_name_is_known_to_the_stores(metrics: list[ChangeMetrics]):
    counts = counted(metrics)

    assert set(counts.numbers) <= NUMBERS
    assert set(counts.maxima) <= MAXIMA


@given(st.lists(any_metrics), st.sampled_from([MINUTE, 5 * MINUTE, HOUR]))
def test_steps_and_lanes_have_all_of_the_minutes(metrics: list[ChangeMetrics], step: int):
    minutes = MinuteCounts()
    for each in metrics:
        minutes.add(each)
    rows = minutes.rows()
    steps = in_steps(rows, step)

    assert {(row.start % MINUTE) for row in rows} <= {0}
    assert {(row.start % step) for row in steps} <= {0}
    assert len({(row.start, row.lane) for row in steps}) == len(steps)
    assert [row.start for row in steps] == sorted(row.start for row in steps)
    assert total(row.counts for row in steps) == counted(metrics)
    assert total(by_lane(rows).values()) == counted(metrics)


def test_clock_that_was_set_back_counts_as_no_drift():
    early = ChangeMetrics(lane=Lane.HIGH, at=NOW, outcome=Outcome.SUCCEEDED, drift_ms=-5)

    assert durations(counted([early]), DRIFT) == {"p50": 0, "p95": 0, "p99": 0, "max": 0}


def test_summary_of_nothing_has_zeros_and_no_durations():
    found = summary(Counts())

    assert set(found["attempts"].values()) == set(found["ends"].values()) == {0}
    assert (found["drift_ms"], found["duration_ms"]) == (None, None)


@pytest.mark.parametrize("row", [LaneCounts(start=0, lane=Lane.LOW, counts=Counts({"fast": 2}))])
def test_counts_that_are_merged_leave_the_other_alone(row: LaneCounts):
    minutes = MinuteCounts()
    minutes.merge([row])
    minutes.merge([row])

    assert row.counts == Counts({"fast": 2})
    assert minutes.rows() == [LaneCounts(start=0, lane=Lane.LOW, counts=Counts({"fast": 4}))]


@given(st.lists(any_metrics), st.integers(1, 9))
def test_equal_metrics_can_be_counted_at_once(metrics: list[ChangeMetrics], times: int):
    at_once = Counts()
    for each in metrics:
        at_once.add(each, times)

    assert at_once == counted(metrics * times)
