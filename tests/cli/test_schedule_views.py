"""A given schedule, as it is printed."""

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from duetime.cli import fire_times
from duetime.cli.schedules import views

NOW = datetime(2026, 11, 16, 8, 0, 0, tzinfo=UTC)
ID = "01KA5V8Y3M0000000000000001"
NOTHING: Any = {"fire_times": [], "daylight_saving": []}
CRON = {"type": "cron", "expression": "0 9 * * *", "timezone": "Europe/Berlin"}


def a_schedule(**changes: Any) -> Any:
    return {
        "id": ID,
        "status": "active",
        "name": None,
        "rule": CRON,
        "exclude": [],
        "task": {"target": {"type": "python", "handler": "reports.daily"}, "payload": None},
        "version": 1,
        "next_fire_at": "2026-11-17T08:00:00.000Z",
        "last_fired_at": None,
        "runs": 0,
        "last_error": None,
        "note": None,
        "description": "at 09:00 every day, Europe/Berlin",
        "created_at": "2026-11-16T08:00:00.000Z",
        "updated_at": "2026-11-16T08:00:00.000Z",
        **changes,
    }


def printed(part: RenderableType, width: int = 100) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(part)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": "paused"}, f"It is paused: duetime schedules resume {ID}"),
        ({"status": "paused", "note": "x\ny"}, "It is paused (x y): duetime"),
        ({"status": "paused", "paused_by": "ada"}, "It is paused by ada: duetime"),
        ({"status": "broken", "last_error": "odd"}, "Its rule cannot be evaluated: odd"),
        ({"status": "finished"}, "It is finished: it never fires again."),
        ({"status": "active"}, "It fires next when its current run has ended."),
    ],
)
def test_schedule_without_upcoming_fire_times_says_why(changes: dict[str, Any], words: str) -> None:
    assert printed(views.upcoming(a_schedule(**changes), NOTHING, NOW)).startswith(words)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "the last missed fire time is run; missed means 1 min late"),
        (
            {"policy": "skip", "grace": 5},
            "missed fire times are skipped; missed means 5.0 s late",
        ),
        (
            {"policy": "run_all", "per_minute": 30, "window": 7200, "grace": 60},
            "all missed fire times are run, 30 a minute, if not longer ago than 2 h; "
            "missed means 1 min late",
        ),
        ({"policy": "new", "window": None}, "new; missed means 1 min late"),
    ],
)
def test_a_misfire_policy_in_words(fields: dict[str, Any], words: str) -> None:
    assert views.misfire(fields) == words


def test_every_overlap_policy_has_a_description() -> None:
    for policy in ("allow", "skip", "queue", "cancel"):
        assert views.overlap(policy).startswith(f"{policy}: a run ")
    assert views.overlap("new") == "new"


def test_a_broken_schedule_shows_its_error() -> None:
    broken = a_schedule(status="broken", last_error="no such zone", description=None)
    text = printed(views.panel(broken, NOTHING, NOW))
    assert "by a rule that cannot be evaluated" in text
    assert text.count("no such zone") == 2


def test_panel_leaves_out_fields_that_are_not_set() -> None:
    text = printed(views.panel(a_schedule(), NOTHING, NOW))
    for label in ("name", "starts", "ends", "jitter", "pauses", "note", "tags", "payload", "error"):
        assert f"│ {label} " not in text
    assert "runs" in text


def test_a_list_fits_a_narrow_terminal() -> None:
    schedule = a_schedule(name="a name that is much too long to fit", max_runs=9)
    line = printed(views.table([schedule], NOW), width=80).splitlines()[1]
    assert line.startswith(f"{ID}  active    in 1 d      0/9   a name")
    assert (len(line), line.count("…")) == (80, 2)


def test_a_ledger_fits_a_narrow_terminal() -> None:
    row: Any = {
        "fire_time": "2026-11-16T08:00:00.000Z",
        "outcome": "skipped_overlap",
        "late_ms": None,
        "task_id": ID,
        "task_status": "CANCELLED",
        "reason": "overlap",
    }
    zone = fire_times.zone_of([CRON])
    wide = printed(views.ledger(zone)([row], NOW), width=160).splitlines()[1]
    assert wide.rstrip().endswith("CANCELLED  overlap: the previous run had not ended")
    narrow = printed(views.ledger(zone)([row], NOW), width=80).splitlines()[1]
    assert "2026-11-16 09:00:00 +01:00" in narrow
    assert ID in narrow
    assert len(narrow) <= 80


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        ([CRON], "Europe/Berlin"),
        ([CRON, {"type": "rate", "every": 1}, CRON], "Europe/Berlin"),
        ([{"type": "cron", "expression": "@daily"}], "UTC"),
        ([CRON, {**CRON, "timezone": "Asia/Tokyo"}], "None"),
        ([{"type": "rate", "every": 1}], "None"),
        ([{**CRON, "timezone": "Mars/Olympus"}], "None"),
    ],
)
def test_zone_is_that_of_the_rules_if_they_agree(rules: list[Any], name: str) -> None:
    assert str(fire_times.zone_of(rules)) == name


def test_sentence_of_a_schedule_without_a_next_fire_time_has_its_status() -> None:
    sentence = views.sentence("Changed", a_schedule(next_fire_at=None, status="paused"), NOW)
    assert sentence.plain.endswith("reports.daily: at 09:00 every day, Europe/Berlin; paused")


def test_the_task_has_a_name_if_the_schedule_has_none() -> None:
    named = a_schedule(task={"target": {"type": "http", "url": "http://x"}, "name": "a\nb"})
    assert views.short(named) == "a b"
    http = a_schedule(task={"target": {"type": "http", "url": "http://x"}})
    assert views.short(http) == "POST http://x"
