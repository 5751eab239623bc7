"""`duetime schedules list`, `show`, `pause`, `trigger`, `delete`, … against the real API."""

from typing import Any

import pytest

from duetime.cli import output
from duetime.cli.exit_codes import ExitCode
from duetime.client import Client
from tests.cli.schedules import HOURLY, made, part, shown
from tests.cli.test_commands import data

MADE_WITH = Client.__init__.__kwdefaults__  # a command has no other way to be given its sleep
LONG_AGO = "2026-01-01T00:00:00+00:00"


def test_empty_list_suggests_a_command(live: Any) -> None:
    assert "duetime schedules create --every 10s --handler" in live("schedules", "list").stdout
    assert live("schedules", "list", "--status", "paused").stdout == "No schedule matches.\n"
    assert data(live("schedules", "list", "--json")) == {"items": [], "next_cursor": None}


def test_list_filters_and_has_the_next_fire_times(live: Any) -> None:
    first = made(live, *HOURLY, "--name", "mine", "--max-runs", "9")["id"]
    paused = made(live, *HOURLY)["id"]
    shop = made(live, *HOURLY, "--namespace", "shop")["id"]
    live("schedules", "pause", paused)
    head, *rows = live("schedules", "list").stdout.splitlines()
    assert head.split() == ["ID", "STATUS", "NEXT", "RUNS", "SCHEDULE", "FIRES"]
    assert [row.split()[:2] for row in rows] == [[paused, "paused"], [first, "active"]]
    assert rows[1].split()[2] == "in"
    assert rows[1].split()[-4:] == ["0/9", "mine", "every", "hour"]
    assert shop in live("schedules", "list", "--namespace", "shop").stdout
    found = data(live("schedules", "list", "--status", "PAUSED", "--json"))["items"]
    assert [schedule["id"] for schedule in found] == [paused]


def test_list_continues_at_a_cursor(live: Any) -> None:
    ids = [made(live, *HOURLY)["id"] for _ in range(3)]
    page = data(live("schedules", "list", "--limit", "2", "--json"))
    rest = data(live("schedules", "list", "--cursor", page["next_cursor"], "--json"))
    assert sorted(s["id"] for s in page["items"] + rest["items"]) == sorted(ids)
    assert "There are more" in live("schedules", "list", "--limit", "2").stdout
    assert "There are more" not in live("schedules", "list", "--all").stdout


def test_show_prints_every_field_and_the_next_fire_times(live: Any) -> None:
    words = (
        "--cron",
        "30 2 * * *",
        "--tz",
        "Asia/Tokyo",
        "--payload",
        '{"day": "{{scheduled_for}}"}',
    )
    schedule_id = made(live, *words, "--handler", "echo", "--pause-on-failure", "3")["id"]
    result = live("schedules", "show", schedule_id)
    assert result.exit_code == ExitCode.OK
    assert result.stdout.count("02:30:00 +09:00") == 5
    for text in (
        "at 02:30 every day, Asia/Tokyo",
        "skip: a run is skipped while the previous one runs",
        "the last missed fire time is run; missed means 1 min late",
        "after 3 dead runs in a row",
        "{{scheduled_for}}",
        f"duetime schedules ledger {schedule_id}",
    ):
        assert text in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("update", "--name", "x"),
        ("delete", "--yes"),
        ("pause",),
        ("resume",),
        ("trigger",),
        ("backfill", "--from", "1d"),
        ("upcoming",),
        ("ledger",),
    ],
    ids=" ".join,
)
def test_unknown_schedule_is_not_found(live: Any, command: tuple[str, ...]) -> None:
    result = live("schedules", *command, "01NOPE")
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_FOUND, "")
    missing = "There is no schedule '01NOPE' in namespace default."
    assert result.stderr == f"Not found: {missing}\n"


def test_pause_and_resume(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    paused = live("schedules", "pause", schedule_id, "--note", "deploying")
    assert paused.stdout.splitlines() == [
        f"Paused {schedule_id}  echo",
        f"Resume it: duetime schedules resume {schedule_id}",
    ]
    assert part(shown(live, schedule_id), ("status", "note")) == {
        "status": "paused",
        "note": "deploying",
    }
    why = f"It is paused (deploying): duetime schedules resume {schedule_id}\n"
    assert live("schedules", "upcoming", schedule_id).stdout == why
    assert why.strip() in live("schedules", "show", schedule_id).stdout
    resumed = live("schedules", "resume", schedule_id)
    assert resumed.stdout.startswith(f"Resumed {schedule_id}  echo: every hour; next ")
    for verb, status in (("pause", "paused"), ("resume", "active")):
        assert data(live("schedules", verb, schedule_id, "--json"))["status"] == status


def test_trigger_runs_it_now(live: Any, system: Any) -> None:
    schedule_id = made(live, *HOURLY, "--payload", '["{{schedule.id}}"]')["id"]
    first, second = live("schedules", "trigger", schedule_id).stdout.splitlines()
    task_id = first.split()[1]
    assert first == f"Submitted {task_id}  echo, due at once"
    assert second == f"Follow it: duetime watch {task_id}"
    system.run_due()
    task = data(live("show", task_id, "--json"))
    assert (task["schedule_id"], task["result"]) == (schedule_id, [schedule_id])
    panel = live("show", task_id).stdout
    assert f"schedule       {schedule_id}" in panel
    assert "scheduled for" in panel


def test_trigger_with_the_key_of_a_cancelled_run_says_that_nothing_will_run(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    words = ("schedules", "trigger", schedule_id, "--idempotency-key", "k")
    task_id = data(live(*words, "--json"))["id"]
    live("cancel", task_id)
    result = live(*words)
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stderr.startswith(f"Nothing will run: {task_id}, the task of this key, is CANC")


def test_trigger_and_watch(live: Any, system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MADE_WITH, "sleep", lambda _seconds: system.run_due())
    schedule_id = made(live, *HOURLY, "--payload", "[1]")["id"]
    result = live("schedules", "trigger", schedule_id, "--watch")
    assert result.exit_code == ExitCode.OK
    assert result.stdout.splitlines()[-1] == "result  [1]"
    again = live("schedules", "trigger", schedule_id, "--watch", "--json")
    assert data(again)["status"] == "SUCCEEDED"


def test_run_that_never_starts_shows_the_reason(live: Any, system: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    runs = [data(live("schedules", "trigger", schedule_id, "--json"))["id"] for _ in range(2)]
    system.lease()  # the second run waits for the end of the first
    live("schedules", "delete", schedule_id, "--yes")
    result = live("watch", runs[1], "--wait", "60s")
    assert result.exit_code == ExitCode.NOT_DONE
    assert result.stdout.splitlines()[-1] == "reason  deleted: its schedule was deleted"
    assert "deleted: its schedule was deleted" in live("show", runs[1]).stdout


def test_the_tasks_of_a_schedule_are_listed(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    assert live("list", "--schedule", schedule_id).stdout.startswith("No task matches.\n")
    task_id = data(live("schedules", "trigger", schedule_id, "--json"))["id"]
    live("submit", "--handler", "echo")
    found = data(live("list", "--schedule", schedule_id, "--json"))["items"]
    assert [task["id"] for task in found] == [task_id]


def test_backfill_of_a_span_without_fire_times(live: Any) -> None:
    schedule_id = made(live, "--every", "1d", "--anchor", LONG_AGO, "--handler", "echo")["id"]
    span = ("--from", "2026-02-01T01:00:00Z", "--to", "2026-02-01T02:00:00Z")
    result = live("schedules", "backfill", schedule_id, *span)
    assert result.stdout == "The schedule has no fire time in that span: nothing will run.\n"
    assert data(live("schedules", "backfill", schedule_id, *span, "--json")) == {"fire_times": 0}


def test_delete_without_a_terminal_needs_yes(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    result = live("schedules", "delete", schedule_id, stdin="y\n")
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert shown(live, schedule_id)["status"] == "active"


@pytest.mark.parametrize(("answer", "gone"), [("y\n", True), ("n\n", False), ("", False)])
def test_delete_asks_first(
    live: Any, monkeypatch: pytest.MonkeyPatch, answer: str, gone: bool
) -> None:
    monkeypatch.setattr(output, "can_ask", lambda: True)
    schedule_id = made(live, *HOURLY, "--name", "mine")["id"]
    result = live("schedules", "delete", schedule_id, stdin=answer)
    assert "Delete mine (every hour) and its ledger? [y/N]" in result.stderr
    assert result.exit_code == (ExitCode.OK if gone else ExitCode.NOT_DONE)
    text = f"Deleted {schedule_id}  mine (every hour)\n" if gone else ""
    assert result.stdout == text
    left = data(live("schedules", "list", "--json"))["items"]
    assert (left == []) == gone


def test_delete_with_yes_does_not_ask(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    result = live("schedules", "delete", schedule_id, "--yes", "--json")
    assert data(result) == {"id": schedule_id, "deleted": True}
    assert live("schedules", "show", schedule_id).exit_code == ExitCode.NOT_FOUND


def test_control_characters_do_not_reach_the_terminal(live: Any) -> None:
    evil = "\x1b[2Jgone\x07\nand on"
    schedule_id = made(live, *HOURLY, "--name", evil, "--payload", '["\\u001b"]')["id"]
    live("schedules", "pause", schedule_id, "--note", evil)
    for words in (("list",), ("show", schedule_id), ("upcoming", schedule_id)):
        text = live("schedules", *words).stdout
        assert "gone" in text
        assert "\x1b" not in text
        assert "\x07" not in text
    assert len(live("schedules", "list").stdout.splitlines()) == 2
