"""`duetime stats` and `duetime slo`: what happened, at a glance."""

import json
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from duetime.cli.exit_codes import ExitCode
from duetime.cli.stats import _step, slo_lines, sparkline, stats_lines

ENDS = {"SUCCEEDED": 0, "DEAD": 0, "CANCELLED": 0, "EXPIRED": 0}


def counts(succeeded: int = 0, dead: int = 0, drift: Any = None) -> dict[str, Any]:
    return {
        "attempts": {"succeeded": succeeded, "failed": 2 * dead},
        "ends": ENDS | {"SUCCEEDED": succeeded, "DEAD": dead},
        "drift_ms": drift,
        "duration_ms": None,
    }


def some_stats(**fields: Any) -> Any:
    drift = {"p50": 3, "p95": 9, "p99": 11, "max": 40}
    return {
        "source": "table",
        "from": "2026-11-16T09:00:00.000Z",
        "to": "2026-11-16T09:03:30.000Z",
        "step": 60,
        "complete": True,
        "series": [
            {"at": "2026-11-16T09:01:00.000Z", "lane": "high", **counts(1)},
            {"at": "2026-11-16T09:03:00.000Z", "lane": "high", **counts(7, 1)},
        ],
        "lanes": [{"lane": "high", **counts(8, 1, drift)}, {"lane": "low", **counts()}],
        "tick_age_seconds": 14.0,
        "cursor_lag_seconds": 0.0,
        "held_back": 0,
        "relay_age_seconds": 0.3,
        **fields,
    }


def a_slo(**fields: Any) -> Any:
    lane = {
        "lane": "high",
        "objective": {"share": 0.999, "drift_ms": 500, "window": "30d"},
        "good": 19_999,
        "total": 20_000,
        "share": 0.99995,
        "budget_left": 0.95,
        "burn": {"1h": 0.4, "6h": 0.2, "3d": 0.05},
        "worst_minutes": [{"at": "2026-11-16T09:01:00.000Z", "late": 1, "of": 12}],
        "approximate": True,
    }
    return {"source": "table", "lanes": [{**lane, **fields}]}


def drawn(parts: Any) -> list[str]:
    console = Console(file=StringIO(), width=200)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_lane_has_a_sparkline_its_ends_and_its_drift() -> None:
    head, high, low, _, note = drawn(stats_lines(some_stats(), a_slo()))

    headers = "LANE ENDED DEAD FAILED ON TIME DRIFT p50 p99 TOOK p50 p99"
    assert " ".join(head.split()) == headers
    assert high.split() == ["high", "▁▂▁█", "9", "1", "2", "99.99%", "3", "ms", "11", "ms"]
    assert low.split() == ["low", "▁▁▁▁", "0", "0", "0"]
    assert note == "Each mark: 1 min. Last tick 14 s ago."


def test_what_is_behind_is_said() -> None:
    late = {"cursor_lag_seconds": 120.0, "held_back": 1, "relay_age_seconds": 5.0}
    note = drawn(stats_lines(some_stats(**late), None))[-1]

    assert note == (
        "Each mark: 1 min. Last tick 14 s ago; the scanner is 2 min behind;"
        " 1 overdue task held back; the relay is 5.0 s behind."
    )


def test_answer_that_is_not_complete_says_so() -> None:
    assert "too much to read" in drawn(stats_lines(some_stats(complete=False), None))[-1]


def test_slo_shows_the_budget_and_the_worst_minutes() -> None:
    head, high, worst = drawn(slo_lines(a_slo()))

    assert head.split()[:3] == ["LANE", "OBJECTIVE", "ON"]
    assert high.split() == (
        ["high", "99.9%", "in", "0.5", "s", "99.99%", "1", "20,000", "95%", "0.4", "0.2", "0.05"]
    )
    assert worst.endswith("high: 1 of 12 late")


def test_lane_without_tasks_has_no_share() -> None:
    empty = {"good": 0, "total": 0, "share": None, "budget_left": None, "worst_minutes": []}

    line = drawn(slo_lines(a_slo(**empty)))[1]
    assert line.split()[:6] == ["high", "99.9%", "in", "0.5", "s", "0"]


@pytest.mark.parametrize("lines", [lambda found: stats_lines(found, None), slo_lines])
def test_numbers_that_only_cloudwatch_has_are_named_with_their_address(lines: Any) -> None:
    said = drawn(lines({"source": "emf", "url": "https://aws.test/dashboard"}))

    assert said[0] == (
        "Only CloudWatch has the numbers of this deployment: https://aws.test/dashboard"
    )


def test_sparkline_marks_zero_for_itself_and_the_most_with_a_full_block() -> None:
    assert sparkline([]) == ""
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([0, 1, 1_000]) == "▁▂█"


@pytest.mark.parametrize(("seconds", "step"), [(60, 60), (3_600, 120), (7 * 86_400, 15_120)])
def test_steps_are_whole_minutes_and_few(seconds: int, step: int) -> None:
    assert (_step(seconds), step % 60) == (step, 0)
    assert seconds / step <= 40


def test_commands_read_the_api(live: Any) -> None:
    for command in ("stats", "slo"):
        assert live(command).stdout.startswith("Only CloudWatch has the numbers")
        assert json.loads(live(command, "--json").stdout)["source"] == "emf"
    found = json.loads(live("stats", "--window", "2h", "--lane", "low", "--json").stdout)
    assert (found["step"], found["lanes"]) == (180, [])
    assert live("stats").exit_code == ExitCode.OK
