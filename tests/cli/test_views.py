"""A given task, as it is printed."""

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType

from duetime.cli import format as fmt
from duetime.cli import views, watch
from duetime.cli.output import print_text
from duetime.terminal import clean, length, one_line

NOW = datetime(2026, 11, 16, 8, 0, 0, tzinfo=UTC)
ERROR = {"type": "ValueError", "message": "boom", "attempt": 1}


def printed(part: RenderableType) -> str:
    console = Console(file=StringIO(), width=100)
    console.print(part)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.5, "9.5 s"),
        (59.4, "59 s"),
        (59.9, "1 min"),
        (60, "1 min"),
        (250, "4 min 10 s"),
        (3_600, "1 h"),
        (5_400, "1 h 30 min"),
        (3_599.9, "1 h"),
        (86_400 * 2 + 3_600 * 3 + 59, "2 d 3 h"),
    ],
)
def test_a_length_has_two_units_at_most(seconds: float, words: str) -> None:
    assert length(seconds) == words


def test_a_rough_length_has_one() -> None:
    assert length(3_575, rough=True) == "59 min"


def test_relative_time_is_past_or_future() -> None:
    assert fmt.relative("2026-11-16T08:00:10.000Z", NOW) == "in 10 s"
    assert fmt.relative("2026-11-16T08:58:00.000+01:00", NOW) == "2 min ago"


def test_panel_names_the_fields_that_the_api_could_not_show(a_task: Any) -> None:
    why = "nested more than 200 levels deep"
    task = a_task(target=None, not_shown={"target": why, "result": why})

    text = printed(views.panel(task, [], NOW))
    assert f"not shown  target: {why}; result: {why}" in text
    assert "?" in printed(views.task_table([task], NOW))


def test_panel_has_only_the_fields_that_are_set(a_task: Any) -> None:
    text = printed(views.panel(a_task(tags={"team": "growth"}), [], NOW))
    for words in ("01KA5V8Y3M0000000000000001", "ENQUEUED", "reports.daily", "team=growth"):
        assert words in text
    assert "(in 10 s)" in text
    for label in ("name", "error", "result", "expires", "schedule", "stopping", "outcome"):
        assert label not in text.replace("namespace", "")


def test_panel_of_a_child_names_its_parent(a_task: Any) -> None:
    parent = "01KA5V8Y3M0000000000000002"
    assert f"parent     {parent}" in printed(views.panel(a_task(parent_id=parent), [], NOW))
    assert "parent" not in printed(views.panel(a_task(), [], NOW))


@pytest.mark.parametrize(
    ("waits_for", "words"),
    [
        ({"run": "01KA5V8Y3M0000000000000009"}, "run 01KA5V8Y3M"),
        ({"callback": True}, "a callback"),
        ({"worker": "a.b", "pool": "gpu"}, "a worker with the handler a.b in the pool gpu"),
        ({"worker": "a.b", "pool": None}, "a worker with the handler a.b"),
    ],
)
def test_panel_says_what_a_task_waits_for(
    a_task: Any, waits_for: dict[str, Any], words: str
) -> None:
    task = a_task(status="WAITING", waiting_for=waits_for)
    assert words in printed(views.panel(task, [], NOW))


def test_only_a_running_task_is_shown_as_being_stopped(a_task: Any) -> None:
    running = a_task(status="RUNNING", attempt=1, cancel_requested=True)
    assert "cancel requested" in printed(views.panel(running, [], NOW))
    ended = a_task(status="CANCELLED", cancel_requested=True)
    assert "cancel requested" not in printed(views.panel(ended, [], NOW))


def test_the_panel_of_a_failed_task_has_its_error_and_attempts(a_task: Any) -> None:
    attempt = {
        "number": 1,
        "started_at": "2026-11-16T08:00:10.012Z",
        "finished_at": "2026-11-16T08:00:12.512Z",
        "outcome": "failed",
        "error": ERROR,
        "drift_ms": 12,
    }
    dead = a_task(status="DEAD", attempt=1, error=ERROR, drift_ms=12)
    text = printed(views.panel(dead, [attempt], NOW))
    assert text.count("ValueError: boom") == 2
    for words in ("DEAD", "1 of 5", "failed", "2.5 s", "12 ms"):
        assert words in text


def test_the_traceback_is_shown_from_its_end(a_task: Any) -> None:
    lines = "".join(f"  File f{n}.py, line {n}\n" for n in range(500))
    fields = {**ERROR, "traceback": f"first\n{lines}last\x1b\n"}
    text = printed(views.panel(a_task(status="DEAD", attempt=1, error=fields), [], NOW))
    assert "File f499.py, line 499" in text
    assert "last\ufffd" in text
    assert "(--json shows all) …" in text
    assert "first" not in text
    assert "\x1b" not in text
    without = {**ERROR, "traceback": None}
    assert "traceback" not in printed(views.panel(a_task(error=without), [], NOW))


def test_dead_letter_of_a_step_names_the_step(a_task: Any) -> None:
    dead = a_task(status="DEAD", target={"type": "step"}, step="load", error=ERROR)
    assert "step load" in printed(views.dead_table([dead], NOW))


def test_dead_letters_fit_a_narrow_terminal(a_task: Any) -> None:
    died = "2026-11-16T07:15:00.000Z"
    error = {"type": "ValueError", "message": "a message\nthat is much too long"}
    task = a_task(
        status="DEAD", attempt=5, finished_at=died, error=error, name="the daily report of us"
    )
    console = Console(file=StringIO(), width=80)
    console.print(views.dead_table([task], NOW))
    line = console.file.getvalue().splitlines()[1]  # type: ignore[attr-defined]
    assert line.startswith("01KA5V8Y3M0000000000000001  45 min ago  ValueError: ")
    assert "5/5" in line
    assert len(line) == 80
    assert line.count("…") == 2


def test_attempt_that_has_not_ended_is_running(a_task: Any) -> None:
    attempt = {"number": 2, "started_at": "2026-11-16T08:00:10Z", "finished_at": None}
    attempt |= {"outcome": None, "error": None, "drift_ms": 3}
    assert "running" in printed(views.attempt_table([attempt]))


def test_a_list_shows_the_whole_id_and_what_each_task_is(a_task: Any) -> None:
    http = {"type": "http", "url": "https://shop.test/hook"}
    tasks = [a_task(name="[bold]Mine"), a_task(target=http, attempt=6)]
    lines = printed(views.task_table(tasks, NOW)).splitlines()
    assert lines[1].split()[:4] == ["01KA5V8Y3M0000000000000001", "ENQUEUED", "in", "10"]
    assert lines[1].rstrip().endswith("[bold]Mine")
    assert lines[2].rstrip().endswith("6      POST https://shop.test/hook")


def test_a_list_fits_a_narrow_terminal(a_task: Any) -> None:
    task = a_task(status="SUCCEEDED", attempt=1, name="a name that is much too long to fit")
    console = Console(file=StringIO(), width=80)
    console.print(views.task_table([task], NOW))
    line = console.file.getvalue().splitlines()[1]  # type: ignore[attr-defined]
    assert line.startswith(
        "01KA5V8Y3M0000000000000001  SUCCEEDED  in 10 s     medium  1/5    a name"
    )
    assert len(line) == 80
    assert line.endswith("…")


def test_submitted_task_is_printed_with_its_due_time(a_task: Any) -> None:
    assert "due 2026" in printed(views.submitted(a_task(), NOW))
    at_once = a_task(due_at="2026-11-16T08:00:00.000Z")
    assert printed(views.submitted(at_once, NOW)).rstrip().endswith("due at once")


def test_control_characters_do_not_reach_the_terminal(a_task: Any) -> None:
    evil = "\x1b[2Jgone\x07"
    task = a_task(name=evil, status="DEAD", error={"type": "E", "message": evil}, result=evil)
    task["tags"] = {"t": evil}
    shown = printed(views.panel(task, [], NOW)) + printed(views.task_table([task], NOW))
    shown += "".join(printed(part) for part in views.ending(task))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert one_line("a\tb\nc\r\n\x1b") == "a b c \ufffd"
    assert clean("a\tb\nc é") == "a\tb\nc é"


def test_brackets_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("ok  http://[::1]:8080 [bold]")
    assert capsys.readouterr().out == "ok  http://[::1]:8080 [bold]\n"


def test_long_value_is_cut_with_a_note() -> None:
    assert str(fmt.value("x" * 5_000)).endswith("… (--json shows all)")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "due in 10 s"),
        ({"status": "WAITING"}, "for earlier steps"),
        (
            {"status": "RETRYING", "attempt": 1, "error": ERROR},
            "attempt 1 of 5 failed (ValueError: boom), due in 10 s",
        ),
        ({"status": "RUNNING", "attempt": 2, "drift_ms": 12}, "attempt 2 of 5, drift 12 ms"),
        ({"status": "RUNNING", "attempt": 7, "drift_ms": 60_000}, "attempt 7, drift 1 min"),
        (
            {"status": "RUNNING", "attempt": 1, "cancel_requested": True},
            "attempt 1 of 5, being stopped",
        ),
        ({"status": "SUCCEEDED", "attempt": 1, "drift_ms": 3}, "after 1 attempt, drift 3 ms"),
        ({"status": "DEAD", "attempt": 5, "drift_ms": 3}, "after 5 attempts, drift 3 ms"),
        ({"status": "CANCELLED", "cancel_requested": True}, "before its first attempt"),
        ({"status": "EXPIRED"}, "before its first attempt"),
    ],
)
def test_situation_of_a_task(a_task: Any, changes: dict[str, Any], words: str) -> None:
    task = a_task(**changes)
    assert watch.situation(task, NOW) == words
    assert watch.line(task, NOW).split("  ", 1)[1] == f"{task['status']:<9}  {words}"
    assert words in printed(watch.picture(task, NOW))


def test_progress_has_a_bar_on_a_terminal_and_words_elsewhere(a_task: Any) -> None:
    fields = {"fraction": 0.4, "message": "page 4"}
    task = a_task(status="RUNNING", attempt=1, progress=fields)
    assert watch.line(task, NOW).endswith("attempt 1 of 5, 40% page 4")
    assert "━" in printed(watch.picture(task, NOW))
    assert "40% page 4" in printed(watch.picture(task, NOW))


@pytest.mark.parametrize(
    "change",
    [
        {"status": "RUNNING"},
        {"attempt": 1},
        {"due_at": "2026-11-16T09:00:00Z"},
        {"cancel_requested": True},
        {"progress": {"fraction": 0.1, "message": None}},
    ],
)
def test_change_that_makes_a_new_line(a_task: Any, change: dict[str, Any]) -> None:
    assert watch.visible_state(a_task()) != watch.visible_state(a_task(**change))
    assert watch.visible_state(a_task()) == watch.visible_state(a_task(updated_at="later"))
