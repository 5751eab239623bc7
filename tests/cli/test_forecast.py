"""`duetime forecast`: bars by minute."""

import json
import time
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from duetime.cli.exit_codes import ExitCode
from duetime.cli.forecast import lines


@pytest.fixture(autouse=True)
def _utc() -> Iterator[None]:
    """Times are printed on the clock of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def a_forecast(counts: dict[str, int], lanes: dict[str, Sequence[int]] | None = None) -> Any:
    """`counts` are by minutes of the hour from nine on, or of another hour as `10:05`."""
    minutes = []
    for at, count in counts.items():
        clock = at if ":" in at else f"09:{at}"
        minute: dict[str, Any] = {"minute": f"2026-11-16T{clock}:00.000Z", "count": count}
        minute |= {"tasks": count, "occurrences": 0}
        if lanes:
            minute["lanes"] = dict(zip(("high", "medium", "low"), lanes[at], strict=True))
        minutes.append(minute)
    whole = sum(counts.values())
    total: dict[str, Any] = {"count": whole, "tasks": whole, "occurrences": 0}
    if lanes:
        sums = [sum(column) for column in zip(*lanes.values(), strict=True)]
        total["lanes"] = dict(zip(("high", "medium", "low"), sums, strict=True))
    return {
        "looked_from": "2026-11-16T09:00:00.000Z",
        "looked_until": "2026-11-16T10:00:00.000Z",
        "complete": True,
        "total": total,
        "peak": max(minutes, key=lambda m: m["count"], default=None),
        "minutes": minutes,
    }


def drawn(found: Any, hours: int = 1, width: int = 60) -> list[str]:
    console = Console(file=StringIO(), width=width)
    for part in lines(found, hours, width):
        console.print(part, soft_wrap=True)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_each_minute_has_a_bar_and_the_peak_is_marked() -> None:
    summary, _, *chart = drawn(a_forecast({"01": 1, "02": 40, "30": 20}))
    assert summary == "61 tasks due in the next hour (61 stored, 0 coming runs); peak: 40 at 09:02"
    assert [line.split() for line in chart if line.split() != ["⋮"]] == [
        ["09:01", "█", "1"],
        ["09:02", "█" * 44, "40", "peak"],
        ["09:30", "█" * 22, "20"],
    ]


def test_first_of_two_equal_minutes_is_the_peak() -> None:
    chart = drawn(a_forecast({"01": 5, "02": 5}))[2:]
    assert ["peak" in line for line in chart] == [True, False]


def test_gap_between_two_minutes_is_shown() -> None:
    chart = drawn(a_forecast({"01": 1, "02": 2, "30": 1}))[2:]
    assert [line.strip() == "⋮" for line in chart] == [False, False, True, False]


def test_nothing_due_is_one_line() -> None:
    assert drawn(a_forecast({})) == ["Nothing is due in the next hour."]
    assert drawn(a_forecast({}), hours=6) == ["Nothing is due in the next 6 hours."]


def test_lanes_are_told_apart_without_colours() -> None:
    found = a_forecast({"01": 4, "02": 2}, {"01": (2, 1, 1), "02": (0, 0, 2)})
    _, _, legend, first, second = drawn(found, width=39)
    assert legend.split() == ["█", "high", "2", "▓", "medium", "1", "░", "low", "3"]
    assert first.split()[1] == "█" * 12 + "▓" * 6 + "░" * 6
    assert second.split()[1] == "░" * 12


@pytest.mark.parametrize("width", [26, 40, 80])
def test_chart_fits_a_narrow_terminal(width: int) -> None:
    chart = drawn(a_forecast({"01": 1_234, "02": 99_999, "30": 5}), width=width)[2:]
    assert max(len(line) for line in chart) <= width
    assert all("█" in line for line in chart if "⋮" not in line)


def test_long_forecast_has_rows_of_several_minutes() -> None:
    minutes = {f"{hour:02}:{minute:02}": 1 for hour in range(9, 15) for minute in range(60)}
    _, _, note, *chart = drawn(a_forecast(minutes), hours=6)
    assert note == "Each row: 10 minutes"
    assert [line.split()[0] for line in chart[:3]] == ["09:00", "09:10", "09:20"]
    assert len(chart) == 36
    assert {line.split()[2] for line in chart} == {"10"}


def test_answer_that_was_cut_says_what_it_has_counted() -> None:
    found = a_forecast({"01": 1}) | {
        "complete": False,
        "looked_until": "2026-11-16T09:20:00.000Z",
    }
    assert drawn(found)[-1] == (
        "Counted from 2026-11-16 09:00:00 to 2026-11-16 09:20:00: there is too much to count all."
    )


def test_forecast_of_a_running_system(live: Any) -> None:
    assert live("forecast").stdout == "Nothing is due in the next hour.\n"
    for _ in range(3):
        live("submit", "--handler", "echo", "--in", "600", "--priority", "low", "--json")
    result = live("forecast", "--by", "lane")
    assert result.exit_code == ExitCode.OK
    assert "3 tasks due in the next hour" in result.stdout
    assert "\x1b" not in result.stdout
    found = json.loads(live("forecast", "--json", "--hours", "2", "--by", "lane").stdout)
    assert found["total"]["lanes"] == {"high": 0, "medium": 0, "low": 3}
    assert json.loads(live("forecast", "--json", "--namespace", "shop").stdout)["peak"] is None


def test_hours_out_of_range_are_refused(duetime: Any) -> None:
    assert duetime("forecast", "--hours", "25").exit_code == ExitCode.USAGE
    assert duetime("forecast", "--by", "colour").exit_code == ExitCode.USAGE


def test_hint_of_a_submission_is_printed_once_on_stderr(live: Any, system: Any) -> None:
    system.api._tasks.crowded._mark = 1
    hint = "Hint: jitter: about 1 tasks or more are due in the minute of "
    one = live("submit", "--handler", "echo", "--in", "600")
    assert one.exit_code == ExitCode.OK
    assert one.stderr.startswith(hint)
    assert "Hint" not in one.stdout
    task = {"target": {"type": "python", "handler": "echo"}, "delay": 600}
    many = live("submit", "--from", "-", "--json", stdin=json.dumps([task] * 3))
    assert many.stderr.count(hint) == 1
    assert len(json.loads(many.stdout)["results"]) == 3
    assert live("submit", "--handler", "echo", "--in", "600", "--jitter", "9").stderr == ""
