"""What the local runner counts: nothing twice, nothing lost but by a kill."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import pytest

from duetime.core.errors import Unavailable
from duetime.core.events import StatusChange, status_change
from duetime.core.lanes import Lane
from duetime.core.stats.counts import LaneCounts, total
from duetime.core.steps.record import succeed
from duetime.local.stats import RunnerStats
from tests.factories import a_running_task, a_spec

PATIENCE = 60.0  # real seconds


class Store:
    def __init__(self) -> None:
        self.rows: list[LaneCounts] = []
        self.error: Exception | None = None

    def add(self, counted: Sequence[LaneCounts]) -> None:
        if self.error:
            raise self.error
        self.rows += counted

    @property
    def succeeded(self) -> int:
        return total(row.counts for row in self.rows).numbers["SUCCEEDED"]


def an_end(lane: Lane = Lane.HIGH) -> StatusChange:
    task = a_running_task(spec=a_spec(priority=lane))
    change = status_change(task, succeed(task, result=None, now=task.due_at).applied_to(task))
    assert change is not None
    return change


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def stats(store: Store) -> RunnerStats:
    return RunnerStats(store)  # type: ignore[arg-type]


def test_changes_of_a_minute_and_lane_are_one_row(store: Store, stats: RunnerStats):
    end = an_end()
    for _ in range(3):
        stats.notify(end)
    stats.notify(replace(end, lane=Lane.LOW))
    stats.flush()
    stats.flush()

    assert [(row.lane, row.counts.numbers["SUCCEEDED"]) for row in store.rows] == [
        (Lane.HIGH, 3),
        (Lane.LOW, 1),
    ]


def test_stop_writes_what_was_counted_last(store: Store, stats: RunnerStats):
    stats.notify(an_end())
    stats.stop()

    assert store.succeeded == 1


def test_store_that_fails_gets_the_counts_later_and_is_logged_once(
    store: Store, stats: RunnerStats, caplog: pytest.LogCaptureFixture
):
    store.error = Unavailable("the disk is full")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            stats.notify(an_end())
            stats.flush()
    store.error = None
    stats.flush()

    assert store.succeeded == 3
    assert stats.totals()[Lane.HIGH].numbers["SUCCEEDED"] == 3
    assert [record.getMessage() for record in caplog.records] == [
        "statistics not written: the disk is full"
    ]


def test_totals_grow_over_all_flushes(stats: RunnerStats):
    for lane in (Lane.HIGH, Lane.LOW, Lane.HIGH):
        stats.notify(an_end(lane))
        stats.flush()
    stats.notify(an_end())

    totals = stats.totals()
    assert {lane: totals[lane].numbers["SUCCEEDED"] for lane in Lane} == {
        Lane.HIGH: 3,
        Lane.MEDIUM: 0,
        Lane.LOW: 1,
    }


def test_runner_without_a_store_counts_the_totals():
    stats = RunnerStats(None)
    stats.notify(an_end())

    assert stats.totals()[Lane.HIGH].numbers["succeeded"] == 1


def test_scrape_waits_for_a_flush_that_adds_to_the_totals(store: Store, stats: RunnerStats):
    """Both add to the same numbers, and would lose some of them."""
    writing, go_on = Event(), Event()

    def add_slowly(counted: Sequence[LaneCounts]) -> None:
        writing.set()
        assert go_on.wait(PATIENCE)

    store.add = add_slowly  # type: ignore[method-assign]
    stats.notify(an_end())
    with ThreadPoolExecutor(2) as threads:
        threads.submit(stats.flush)
        assert writing.wait(PATIENCE)
        scraped = threads.submit(stats.totals)
        with pytest.raises(TimeoutError):
            scraped.result(timeout=0.05)
        go_on.set()
        assert scraped.result(PATIENCE)[Lane.HIGH].numbers["SUCCEEDED"] == 1
