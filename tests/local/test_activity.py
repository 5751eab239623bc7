"""The events that the local runner shows, and how many."""

from typing import Any

import pytest

from duetime.core.events import StatusChange
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.local.activity import LONG_RUN, Activity


def a_change(**fields: Any) -> StatusChange:
    given = {
        "task_id": "01KA5V8Y3M0000000000A1B2C3",
        "namespace": "default",
        "name": None,
        "target": "shop.restock",
        "lane": Lane.MEDIUM,
        "before": Status.RUNNING,
        "after": Status.SUCCEEDED,
        "attempt": 1,
        "at": 1_000,
        "due_at": 1_000,
        "drift_ms": None,
        "outcome": None,
        "error": None,
        "has_follow_up": False,
        "schedule_id": None,
        "max_attempts": 5,
    }
    return StatusChange(**{**given, **fields})


class Shown:
    """Records the events shown."""

    max_per_second = 10

    def __init__(self) -> None:
        self.now = 100.0
        self.lines: list[Any] = []
        self.activity = Activity(self, clock=lambda: self.now)

    def show(self, change: StatusChange) -> None:
        self.lines.append((change.task_id[-6:], change.after))

    def show_omitted(self, count: int) -> None:
        self.lines.append(count)

    def notify(self, after: Status, task_id: str = "t1") -> None:
        self.activity.notify(a_change(task_id=task_id, after=after))


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.mark.parametrize("status", list(Status))
def test_an_event_is_shown_when_a_task_ends_or_an_attempt_fails(shown: Shown, status: Status):
    shown.notify(status)
    quiet = {Status.PENDING, Status.ENQUEUED, Status.WAITING, Status.RUNNING}
    assert shown.lines == ([] if status in quiet else [("t1", status)])


def test_a_run_is_shown_once_when_it_has_gone_on_for_a_second(shown: Shown):
    shown.notify(Status.RUNNING, "long")
    shown.now += LONG_RUN / 2
    shown.notify(Status.RUNNING, "later")
    shown.activity.show_long_runs()
    assert shown.lines == []

    shown.now += LONG_RUN / 2
    for _ in range(2):
        shown.activity.show_long_runs()
    assert shown.lines == [("long", Status.RUNNING)]

    shown.now += LONG_RUN / 2
    shown.activity.show_long_runs()
    assert shown.lines[1:] == [("later", Status.RUNNING)]


@pytest.mark.parametrize("end", [Status.SUCCEEDED, Status.RETRYING, Status.CANCELLED, Status.DEAD])
def test_a_short_run_is_not_shown_while_it_goes_on(shown: Shown, end: Status):
    shown.notify(Status.RUNNING)
    shown.notify(end)
    shown.now += 2 * LONG_RUN
    shown.activity.show_long_runs()
    assert shown.lines == [("t1", end)]


def test_each_long_attempt_of_a_task_is_shown(shown: Shown):
    for _ in range(2):
        shown.notify(Status.RUNNING)
        shown.now += LONG_RUN
        shown.activity.show_long_runs()
    assert shown.lines == [("t1", Status.RUNNING)] * 2


def test_events_over_the_limit_are_counted_and_shown_at_the_end_of_the_second(shown: Shown):
    for _ in range(shown.max_per_second + 3):
        shown.notify(Status.SUCCEEDED)
    shown.now += 1
    for _ in range(shown.max_per_second + 2):
        shown.notify(Status.SUCCEEDED)
    shown.activity.stop()
    shown.activity.stop()
    assert [line for line in shown.lines if isinstance(line, int)] == [3, 2]
    assert len(shown.lines) == 2 * shown.max_per_second + 2


def test_a_started_activity_looks_for_long_runs_by_itself():
    shown = Shown()
    seen = []
    shown.activity.show_long_runs = lambda: seen.append(1) or shown.activity._ended.set()
    shown.activity.start()
    assert shown.activity._ended.wait(60)
    assert seen
