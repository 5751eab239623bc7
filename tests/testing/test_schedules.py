"""Schedules in a world: fire times, daylight saving, the ledger."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from duetime.testing import World
from tests.testing import shop
from tests.testing.shop import daily, remind

TARGET: Any = {"target": {"type": "python", "handler": "kit.daily"}}
NINE: Any = {"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"}
MINUTELY: Any = {"type": "cron", "expression": "* * * * *", "timezone": "UTC"}


def test_schedule_fires_at_the_local_time_on_both_sides_of_a_clock_change(w: World):
    w.set("2027-03-27T12:00+01:00")
    w.client.schedules.create(name="daily", rule=NINE, task=TARGET)
    w.advance("48h")

    assert [run.scheduled_for for run in w.runs(daily)] == [
        datetime(2027, 3, 28, 7, tzinfo=UTC),
        datetime(2027, 3, 29, 7, tzinfo=UTC),
    ]
    assert shop.seen == [run.scheduled_for for run in w.runs(daily)]
    assert [entry.outcome for entry in w.ledger("daily")] == ["fired", "fired"]


def test_run_of_a_schedule_starts_at_its_fire_time(w: World):
    w.client.schedules.create(name="daily", rule=NINE, task=TARGET)
    w.advance("10d")
    assert len(w.runs(daily)) == 10
    assert all(run.started_at == run.scheduled_for for run in w.runs(daily))
    assert [e.task_id for e in w.ledger("daily")] == [run.id for run in w.runs(daily)]


def test_drain_does_not_wait_for_the_future_of_a_schedule(w: World):
    w.client.schedules.create(name="minutely", rule=MINUTELY, task=TARGET)
    before = w.now
    remind.submit(email="ada@example.com")
    w.drain()
    assert (w.now, w.runs(daily)) == (before, [])


def test_schedule_of_a_failing_task_does_not_keep_drain_from_ending(w: World):
    failing: Any = {
        "target": {"type": "python", "handler": "kit.flaky"},
        "payload": {"fails": 9},
        "retry": {"max_attempts": 4, "base_delay": 600},
    }
    w.client.schedules.create(name="minutely", rule=MINUTELY, task=failing, overlap="allow")
    w.advance("1m")
    w.drain()
    assert w.runs()[0].status == "DEAD"
    assert "RETRYING" in {run.status for run in w.runs()}


def test_missed_fire_times_are_made_up_for_after_an_outage(w: World):
    w.client.schedules.create(name="daily", rule=NINE, task=TARGET, misfire={"policy": "run_all"})
    w.set("2027-01-07T12:00Z")
    w.advance("10m")
    assert [run.scheduled_for.day for run in w.runs(daily) if run.scheduled_for] == [5, 6, 7]


def test_schedule_with_a_delay_fires_after_the_end_of_each_run(w: World):
    w.client.schedules.create(name="after", rule={"type": "delay", "delay": 90}, task=TARGET)
    w.advance("10m")
    times = [run.started_at for run in w.runs(daily) if run.started_at]
    assert {(after - before).total_seconds() for before, after in pairwise(times)} == {90.0}
    assert len(times) == 6


def test_ledger_of_an_unknown_schedule_names_those_that_there_are(w: World):
    w.client.schedules.create(name="daily", rule=NINE, task=TARGET)
    with pytest.raises(LookupError, match="no schedule has the name or id 'weekly'; there are: da"):
        w.ledger("weekly")


def test_submitted_leaves_out_runs_of_schedules(w: World):
    w.client.schedules.create(name="daily", rule=NINE, task=TARGET)
    w.advance("24h")
    assert (len(w.runs(daily)), w.submitted()) == (1, [])
