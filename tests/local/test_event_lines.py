"""The lines of the terminal, at 80 columns and others."""

import logging
from io import StringIO
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from duetime.core.lifecycle import Status
from duetime.core.results import encode_result
from duetime.core.task import TaskError
from duetime.local.console import LoggedNotices
from duetime.local.event_lines import EventLines
from tests.local.test_activity import a_change

URL = "http://127.0.0.1:8080"
BOOM = TaskError(type="ConnectionError", message="the shop does not answer; " * 5)


class Screen:
    def __init__(self, width: int = 80, **options: Any) -> None:
        self._file = StringIO()
        console = Console(file=self._file, width=width, highlight=False, **options)
        self.events = EventLines(console, URL)

    def show(self, *, result: Any = None, **fields: Any) -> str:
        """The line without the time, which depends on the zone."""
        self.events.show(a_change(result=encode_result(result), **fields))
        *_, last = self.lines()
        assert last[2] == last[5] == ":"
        return last[10:]

    def lines(self) -> list[str]:
        return self._file.getvalue().splitlines()


def line(width: int = 80, **fields: Any) -> str:
    return Screen(width).show(**fields)


def test_a_line_has_status_name_short_id_attempt_duration_and_result():
    shown = line(took_ms=12, result={"restocked": 2})
    assert shown == 'SUCCEEDED  shop.restock  …A1B2C3  try 1/5  12 ms  {"restocked":2}'


def test_a_line_has_the_name_of_a_task_before_what_it_calls():
    assert line(name="the daily one").startswith("SUCCEEDED  the daily one  …")
    assert line(target=None) == f"SUCCEEDED  {'':12}  …A1B2C3  try 1/5"


def test_the_column_of_names_is_as_wide_as_the_widest_so_far():
    screen = Screen()
    names = ["a", "shop.restock_all", "b", "n" * 500, "c"]
    columns = [screen.show(name=name).index("…A1B2C3") - 13 for name in names]
    assert columns == [12, 16, 16, 22, 22]


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({"attempt": 2, "took_ms": 1_234}, "…A1B2C3  try 2/5  1.2 s"),
        ({"attempt": 7, "took_ms": 61_000}, "…A1B2C3  try 7  1 min 1 s"),
        ({"result": 'Hello, "Ada"!'}, '…A1B2C3  try 1/5  Hello, "Ada"!'),
        ({"result": ["a"]}, '…A1B2C3  try 1/5  ["a"]'),
        ({"result": False}, "…A1B2C3  try 1/5  false"),
        ({"result": None}, "…A1B2C3  try 1/5"),
        ({"after": Status.RUNNING}, "…A1B2C3  try 1/5  for over a second"),
        ({"after": Status.RUNNING, "attempt": 3}, "…A1B2C3  try 3/5  for over a second"),
        ({"after": Status.CANCELLED, "reason": "overlap", "attempt": 0}, "…A1B2C3  overlap"),
        ({"after": Status.CANCELLED, "attempt": 0}, "…A1B2C3"),
        ({"after": Status.EXPIRED, "attempt": 0}, "…A1B2C3  not started in time"),
        ({"after": Status.RETRYING, "before": Status.DEAD}, "…A1B2C3  revived"),
        (
            {"after": Status.RETRYING, "took_ms": 3, "error": TaskError(type="E", message="m")},
            "…A1B2C3  try 1/5  3 ms  E: m",
        ),
    ],
)
def test_a_line_shows_the_outcome_of_an_event(fields: dict[str, Any], end: str):
    assert line(**fields).endswith(end)


LONG = {
    "result": {"result": "x" * 60_000},
    "error": {"after": Status.DEAD, "error": BOOM, "attempt": 5, "took_ms": 59_000},
    "name": {"name": "n" * 500, "result": 1},
    "wide": {"name": "会" * 100, "result": "議" * 100},
    "lines": {"name": "a\nb", "error": BOOM, "after": Status.RETRYING, "took_ms": 86_400_000},
}


@pytest.mark.parametrize("width", [40, 60, 80, 132])
@pytest.mark.parametrize("kind", LONG)
def test_no_line_is_wider_than_the_terminal(width: int, kind: str):
    screen = Screen(width)
    screen.show(**LONG[kind])
    [shown] = screen.lines()
    assert cell_len(shown) <= width
    assert "…" in shown.replace("…A1B2C3", "")


def test_a_long_name_leaves_room_for_the_outcome():
    assert line(name="n" * 500, result=1).endswith(f"{'n' * 21}…  …A1B2C3  try 1/5  1")
    assert line(width=200, name="n" * 500).startswith(f"SUCCEEDED  {'n' * 39}…  …A1B2C3")


def test_nothing_in_a_line_steers_the_terminal():
    error = TaskError(type="Boom", message="one\ntwo\x1b[2J [red]")
    shown = line(after=Status.DEAD, name="a\r\nb\x07", error=error)
    assert shown.startswith("DEAD       a b\ufffd  ")
    assert shown.endswith("  Boom: one two\ufffd[2J [red]")
    assert "\ufffd" in line(result="\x1b]0;owned\x07")


def test_the_short_id_is_a_link_to_the_task():
    screen = Screen(force_terminal=True, color_system="standard")
    screen.events.show(a_change())
    assert f"{URL}/v1/tasks/01KA5V8Y3M0000000000A1B2C3" in screen.lines()[0]


def test_omitted_events_are_counted():
    screen = Screen()
    screen.events.show_omitted(1_234)
    assert screen.lines() == ["… and 1,234 more"]


@pytest.mark.parametrize("name", ["duetime.events", "duetime.runner", "duetime.api.reasons"])
def test_what_operators_must_not_miss_is_logged_at_every_level(name: str):
    log = logging.getLogger(name)
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        LoggedNotices()
        assert log.isEnabledFor(logging.INFO)
    finally:
        log.setLevel(before)
