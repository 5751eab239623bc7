from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from duetime.local.activity import LINES_A_SECOND, Activity
from lambdas.core.events import StatusChange
from lambdas.core.lanes import Lane
from lambdas.core.lifecycle import Status
from lambdas.core.task import TaskError


def a_change(**fields: Any) -> StatusChange:
    given = {
        "task_id": "t1",
        "namespace": "default",
        "name": None,
        "target": "shop.restock",
        "lane": Lane.MEDIUM,
        "before": Status.RUNNING,
        "after": Status.SUCCEEDED,
        "attempt": 1,
        "at": 1_000,
        "drift_ms": None,
        "outcome": None,
        "error": None,
        "owes": False,
    }
    return StatusChange(**{**given, **fields})


class Screen:
    def __init__(self, **options: Any) -> None:
        self._file = StringIO()
        self.activity = Activity(Console(file=self._file, width=200, highlight=False, **options))

    def lines(self) -> list[str]:
        return self._file.getvalue().splitlines()


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_a_task_is_called_by_its_name_else_by_what_it_does(screen: Screen) -> None:
    screen.activity.notify(a_change(name="the daily one"))
    screen.activity.notify(a_change())
    screen.activity.notify(a_change(target=None, drift_ms=7))
    ends = [line.split("t1")[1] for line in screen.lines()]
    assert ends == ["  the daily one", "  shop.restock", "  started 7 ms after its time"]


@pytest.mark.parametrize("status", [Status.PENDING, Status.ENQUEUED, Status.RUNNING])
def test_only_what_ends_or_failed_is_shown(screen: Screen, status: Status) -> None:
    screen.activity.notify(a_change(after=status))
    assert screen.lines() == []


def test_nothing_steers_the_terminal(screen: Screen) -> None:
    error = TaskError(type="Boom", message="one\ntwo\x1b[2J [red]")
    screen.activity.notify(a_change(after=Status.DEAD, name="a\r\nb\x07", error=error))
    [line] = screen.lines()
    assert line.endswith("t1  a b\ufffd  Boom: one two\ufffd[2J [red]")


def test_only_the_time_and_the_id_are_dim() -> None:
    screen = Screen(force_terminal=True, color_system="standard", no_color=False)
    screen.activity.notify(a_change(after=Status.DEAD, drift_ms=7))
    [line] = screen.lines()
    assert "\x1b[31mDEAD      \x1b[0m" in line
    assert "\x1b[2m t1\x1b[0m  shop.restock  started 7 ms after its time" in line


def test_what_is_too_much_is_counted_and_told_at_the_end(screen: Screen) -> None:
    for _ in range(LINES_A_SECOND + 3):
        screen.activity.notify(a_change())
    screen.activity.notify(a_change(at=2_000))
    assert screen.lines()[LINES_A_SECOND] == "  … and 3 more"
    for _ in range(LINES_A_SECOND + 1):
        screen.activity.notify(a_change(at=2_000))
    screen.activity.tell_hidden()
    screen.activity.tell_hidden()
    assert screen.lines()[-1] == "  … and 2 more"
    assert len(screen.lines()) == 2 * LINES_A_SECOND + 2
