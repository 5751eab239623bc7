"""`duetime schedules` against the real API, over HTTP."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duetime.cli import output
from duetime.cli.exits import ExitCode
from duetime.client import Client
from lambdas.core.schedules.ledger import Expected, LedgerRow
from tests.cli.test_commands import data

MADE_WITH = Client.__init__.__kwdefaults__  # a command has no other way to be given its sleep
HOURLY = ("--every", "1h", "--handler", "echo")
LONG_AGO = "2026-01-01T00:00:00+00:00"
BODY = {
    "name": "n",
    "rule": {"type": "rate", "every": 3600},
    "task": {"target": {"type": "python", "handler": "echo"}},
}


def made(live: Any, *words: str, stdin: str | None = None) -> Any:
    return data(live("schedules", "create", *words, "--json", stdin=stdin))


def shown(live: Any, schedule_id: str) -> Any:
    return data(live("schedules", "show", schedule_id, "--json"))


def part(whole: Any, names: Any) -> Any:
    return {name: whole[name] for name in names}


def test_every_option_of_create_arrives(live: Any) -> None:
    words = """--tz Europe/Berlin --gap skip --dst-overlap both --exclude-date 2026-12-25
        --exclude-date 2026-12-26 --handler echo --payload {"day":1} --priority HIGH
        --timeout 2m --max-attempts 3 --base-delay 2 --multiplier 3 --max-delay 1h
        --retry-jitter 0.25 --namespace shop --tag team=growth --ordering-key o1
        --starts-at 2030-01-01T00:00:00+01:00 --ends-at 2031-01-01T00:00:00+01:00 --max-runs 7
        --jitter 5 --misfire run_all --grace 90 --window 2h --per-minute 30 --overlap queue
        --pause-on-failure 3 --name daily"""
    texts = (
        "--cron",
        "0 9 * * 1-5",
        "--exclude-cron",
        "* 12 * * *",
        "--task-name",
        "of {{schedule.name}}",
    )
    schedule = made(live, *words.split(), *texts)
    berlin = {"timezone": "Europe/Berlin"}
    expected = {
        "name": "daily",
        "rule": {
            "type": "cron",
            "expression": "0 9 * * 1-5",
            **berlin,
            "dst": {"gap": "skip", "overlap": "both"},
        },
        "exclude": [
            {"type": "dates", "dates": ["2026-12-25", "2026-12-26"], **berlin},
            {"type": "cron", "expression": "* 12 * * *", **berlin},
        ],
        "starts_at": "2029-12-31T23:00:00.000Z",
        "ends_at": "2030-12-31T23:00:00.000Z",
        "max_runs": 7,
        "jitter": 5.0,
        "misfire": {"policy": "run_all", "grace": 90.0, "window": 7200.0, "per_minute": 30.0},
        "overlap": "queue",
        "pause_on_failure": 3,
        "status": "active",
    }
    assert part(schedule, expected) == expected
    retry = {"max_attempts": 3, "base_delay": 2, "multiplier": 3, "max_delay": 3600}
    assert schedule["task"] == {
        "target": {"type": "python", "handler": "echo"},
        "payload": {"day": 1},
        "priority": "high",
        "timeout": 120.0,
        "retry": retry | {"jitter": 0.25},
        "name": "of {{schedule.name}}",
        "namespace": "shop",
        "ordering_key": "o1",
        "tags": {"team": "growth"},
    }


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        (("--every", "10s"), [{"type": "rate", "every": 10.0}]),
        (
            ("--every", "90", "--anchor", "2026-01-01T00:00:00Z"),
            [{"type": "rate", "every": 90.0, "anchor": "2026-01-01T00:00:00.000Z"}],
        ),
        (("--delay", "30s"), [{"type": "delay", "delay": 30.0}]),
        (
            ("--cron", "@daily", "--cron", "0 12 * * *", "--every", "1h"),
            [
                {"type": "cron", "expression": "@daily", "timezone": "UTC"},
                {"type": "cron", "expression": "0 12 * * *", "timezone": "UTC"},
                {"type": "rate", "every": 3600.0},
            ],
        ),
    ],
)
def test_every_kind_of_rule(live: Any, words: tuple[str, ...], rules: list[Any]) -> None:
    schedule = made(live, *words, "--http", "http://127.0.0.1:9/x", "--method", "put")
    found = schedule.get("rules") or [schedule["rule"]]
    assert [part(rule, wanted) for rule, wanted in zip(found, rules, strict=True)] == rules
    assert schedule["task"]["target"]["method"] == "PUT"


TASK = ("--handler", "echo")


@pytest.mark.parametrize(
    ("words", "rules", "exclude"),
    [
        (
            ("--cron", "0 0 9 * * *", "--exclude-cron", "* 12 * * *", "--seconds", "first"),
            [{"expression": "0 0 9 * * *", "seconds": "first"}],
            [{"expression": "* 12 * * *"}],
        ),
        (
            ("--cron", "0 9 * * *", "--exclude-cron", "* 12 * * * 30", "--seconds", "last"),
            [{"expression": "0 9 * * *"}],
            [{"expression": "* 12 * * * 30", "seconds": "last"}],
        ),
        (
            ("--cron", "0 9 13 * fri", "--exclude-cron", "* * 24 * mon", "--days", "both"),
            [{"expression": "0 9 13 * fri", "days": "both"}],
            [{"expression": "* * 24 * mon", "days": "both"}],
        ),
        (
            ("--cron", "CRON_TZ=Europe/Berlin 0 9 * * *", "--cron", "0 9 * * *"),
            [
                {"expression": "CRON_TZ=Europe/Berlin 0 9 * * *", "timezone": "Europe/Berlin"},
                {"expression": "0 9 * * *"},
            ],
            [],
        ),
        (
            ("--cron", "cron(0 12 * * ? *)", "--tz", "Asia/Tokyo"),
            [{"expression": "cron(0 12 * * ? *)", "timezone": "Asia/Tokyo"}],
            [],
        ),
    ],
)
def test_cron_as_it_is_pasted(
    live: Any, words: tuple[str, ...], rules: list[Any], exclude: list[Any]
) -> None:
    schedule = made(live, *words, *TASK)
    usual = {"type": "cron", "timezone": "UTC"}
    assert (schedule.get("rules") or [schedule["rule"]]) == [usual | rule for rule in rules]
    assert schedule["exclude"] == [usual | exclusion for exclusion in exclude]


def test_eventbridge_s_rate_becomes_a_rate_whatever_the_zone(live: Any) -> None:
    words = ("--cron", "rate(5 minutes)", "--cron", "0 9 * * *", "--tz", "Asia/Tokyo", *TASK)
    first, second = made(live, *words)["rules"]
    assert (first["type"], first["every"]) == ("rate", 300.0)
    assert second == {"type": "cron", "expression": "0 9 * * *", "timezone": "Asia/Tokyo"}


@pytest.mark.parametrize("command", ["create", "preview"])
@pytest.mark.parametrize("option", ["--cron", "--exclude-cron"])
def test_six_fields_without_seconds_are_a_usage_error_with_both_readings(
    live: Any, command: str, option: str
) -> None:
    words = ("--every", "1h") if option == "--exclude-cron" else ()
    result = live("schedules", command, *words, option, "0 0 9 * * *")
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    told = " ".join(line.strip("│ ") for line in result.stderr.splitlines())
    assert "Invalid value for --seconds: is required with six fields; with seconds first:" in told
    assert "with seconds last: every second of minute 0 of hour 0 on day 9 of the month" in told


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--every", "1h", "--seconds", "first"), "goes with --cron or --exclude-cron of six"),
        (("--cron", "0 9 * * *", "--seconds", "last"), "goes with --cron or --exclude-cron of"),
        (("--cron", "cron(0 12 * * ? *)", "--seconds", "last"), "goes with --cron or"),
        (("--every", "1h", "--days", "both"), "goes with --cron or --exclude-cron"),
    ],
)
def test_seconds_and_days_go_with_expressions_that_have_them(
    live: Any, words: tuple[str, ...], reason: str
) -> None:
    result = live("schedules", "create", *words, *TASK)
    assert result.exit_code == ExitCode.USAGE
    assert reason in " ".join(line.strip("│ ") for line in result.stderr.splitlines())


def test_an_update_keeps_the_days_and_asks_for_the_seconds_of_another_expression(live: Any) -> None:
    words = ("--cron", "0 0 9 13 * fri", "--seconds", "first", "--days", "both", *TASK)
    schedule_id = made(live, *words)["id"]
    update = ("schedules", "update", schedule_id)
    assert live(*update, "--cron", "0 0 10 13 * fri").exit_code == ExitCode.USAGE
    live(*update, "--cron", "0 10 13 * fri", "--tz", "Asia/Tokyo")
    rule = {"type": "cron", "expression": "0 10 13 * fri", "timezone": "Asia/Tokyo", "days": "both"}
    assert shown(live, schedule_id)["rule"] == rule
    live(*update, "--days", "either")
    assert "days" not in shown(live, schedule_id)["rule"]
    live(*update, "--cron", "CRON_TZ=Europe/Berlin 0 10 * * *")
    assert shown(live, schedule_id)["rule"]["timezone"] == "Europe/Berlin"
    live(*update, "--cron", "rate(5 minutes)")
    assert shown(live, schedule_id)["rule"]["every"] == 300.0


def test_an_update_turns_the_seconds_round(live: Any) -> None:
    words = ("--cron", "0 0 9 1 1 *", "--exclude-cron", "* * * 1 2 3", "--seconds", "last", *TASK)
    schedule_id = made(live, *words)["id"]
    live("schedules", "update", schedule_id, "--seconds", "first")
    after = shown(live, schedule_id)
    assert (after["rule"]["seconds"], after["exclude"][0]["seconds"]) == ("first", "first")
    live("schedules", "update", schedule_id, "--name", "other")
    assert shown(live, schedule_id)["rule"] == after["rule"]


def test_an_update_with_another_rule_leaves_the_days_of_the_exclusions(live: Any) -> None:
    schedule_id = made(live, "--cron", "0 9 * * *", "--exclude-cron", "* * 1 * mon", *TASK)["id"]
    live("schedules", "update", schedule_id, "--cron", "0 9 13 * fri", "--days", "both")
    after = shown(live, schedule_id)
    assert after["rule"]["days"] == "both"
    assert after["exclude"] == [{"type": "cron", "expression": "* * 1 * mon", "timezone": "UTC"}]
    live("schedules", "update", schedule_id, "--days", "both")
    assert shown(live, schedule_id)["exclude"][0]["days"] == "both"


def test_a_preview_shows_the_clock_of_the_zone_in_the_expression(live: Any) -> None:
    words = ("--cron", "CRON_TZ=Asia/Tokyo 0 9 * * *", "--count", "1")
    result = live("schedules", "preview", *words)
    assert " 09:00:00 +09:00" in result.stdout


def test_create_says_what_it_is_when_it_fires_and_how_to_go_on(live: Any) -> None:
    words = ("--cron", "0 9 * * 1-5", "--tz", "Europe/Berlin", "--handler", "echo")
    first, second = live("schedules", "create", *words, "--name", "daily").stdout.splitlines()
    schedule_id = first.split()[1]
    said = f"Created {schedule_id}  daily: at 09:00, Monday to Friday, Europe/Berlin; next "
    assert first.startswith(said)
    assert " 09:00:00 +0" in first
    assert second == f"Look ahead: duetime schedules upcoming {schedule_id}"


def test_a_schedule_from_a_file_or_stdin(live: Any, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(BODY))
    from_file = made(live, "--file", str(tmp_path / "s.json"))
    from_stdin = made(live, "--file", "-", stdin=json.dumps(BODY))
    assert from_file["name"] == from_stdin["name"] == "n"
    assert from_file["id"] != from_stdin["id"]


def test_a_key_makes_one_schedule(live: Any) -> None:
    words = ("schedules", "create", *HOURLY, "--idempotency-key", "k")
    schedule_id = live(*words).stdout.split()[1]
    assert live(*words).stdout.startswith(f"Already created {schedule_id}  echo: every hour; next ")
    refused = live(*words, "--name", "other")
    assert (refused.exit_code, refused.stdout) == (ExitCode.NOT_DONE, "")


def test_what_is_refused_is_told_field_by_field_and_pointed_at(live: Any) -> None:
    words = ("--cron", "0 9 * * *", "--cron", "0 9 * * mo", "--handler", "echo")
    result = live("schedules", "create", *words)
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_DONE, "")
    title, field, text, caret = result.stderr.splitlines()
    assert title == "The request is not valid"
    assert field.startswith("rules.1.expression: weekday: 'mo' is neither a number")
    assert text == "  0 9 * * mo"
    assert caret == "          ^"
    unknown = live("schedules", "create", "--every", "1h", "--handler", "nope")
    assert unknown.stderr.splitlines()[1].startswith("task.target.handler: no handler 'nope'")


def test_list_is_empty_at_first_and_says_what_to_do(live: Any) -> None:
    assert "duetime schedules create --every 10s --handler" in live("schedules", "list").stdout
    assert live("schedules", "list", "--status", "paused").stdout == "No schedule matches.\n"
    assert data(live("schedules", "list", "--json")) == {"items": [], "next_cursor": None}


def test_list_filters_and_says_when_each_fires(live: Any) -> None:
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


def test_list_goes_on_where_it_stopped(live: Any) -> None:
    ids = [made(live, *HOURLY)["id"] for _ in range(3)]
    page = data(live("schedules", "list", "--limit", "2", "--json"))
    rest = data(live("schedules", "list", "--cursor", page["next_cursor"], "--json"))
    assert sorted(s["id"] for s in page["items"] + rest["items"]) == sorted(ids)
    assert "There are more" in live("schedules", "list", "--limit", "2").stdout
    assert "There are more" not in live("schedules", "list", "--all").stdout


def test_show_tells_all_and_what_comes(live: Any) -> None:
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
    for told in (
        "at 02:30 every day, Asia/Tokyo",
        "skip: a run is skipped while the one before runs",
        "the last one missed is run; missed is what is 1 min late",
        "after 3 dead runs in a row",
        "{{scheduled_for}}",
        f"duetime schedules ledger {schedule_id}",
    ):
        assert told in result.stdout


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
def test_a_schedule_that_is_not_there(live: Any, command: tuple[str, ...]) -> None:
    result = live("schedules", *command, "01NOPE")
    assert (result.exit_code, result.stdout) == (ExitCode.NOT_FOUND, "")
    assert result.stderr == "Not found: There is no schedule 01NOPE.\n"


def test_pause_and_resume(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    paused = live("schedules", "pause", schedule_id, "--note", "deploying")
    assert paused.stdout.splitlines() == [
        f"Paused {schedule_id}  echo",
        f"Let it go on: duetime schedules resume {schedule_id}",
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


def test_upcoming(live: Any) -> None:
    words = ("--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "--handler", "echo")
    schedule_id = made(live, *words)["id"]
    lines = live("schedules", "upcoming", schedule_id, "--count", "3").stdout.splitlines()
    assert len(lines) == 3
    assert all("09:00:00 +09:00  in " in line for line in lines)
    told = data(live("schedules", "upcoming", schedule_id, "--json"))
    assert len(told["fire_times"]) == 10


def test_preview_stores_nothing(live: Any) -> None:
    words = ("--cron", "30 2 * * *", "--tz", "Europe/Berlin", "--exclude-date", "2027-03-29")
    after = ("--after", "2027-03-27T12:00:00+01:00", "--count", "2")
    said, _, *times = live("schedules", "preview", *words, *after).stdout.splitlines()
    assert said.startswith("at 02:30 every day, Europe/Berlin; except on 2027-03-29")
    assert [time[:30] for time in times] == [
        "Sun 2027-03-28 03:00:00 +02:00",
        "Tue 2027-03-30 02:30:00 +02:00",
    ]
    assert "02:30 does not exist" in times[0]
    assert live("schedules", "list").stdout.startswith("No schedules yet.")
    assert len(data(live("schedules", "preview", "--every", "1h", "--json"))["fire_times"]) == 10


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


def test_a_run_that_never_starts_says_why(live: Any, system: Any) -> None:
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


def test_backfill_says_how_many_and_the_ledger_what_became_of_them(live: Any, system: Any) -> None:
    words = ("--every", "10m", "--anchor", LONG_AGO, "--handler", "echo", "--overlap", "allow")
    schedule_id = made(live, *words)["id"]
    empty = live("schedules", "ledger", schedule_id).stdout
    assert empty == f"None of its fire times has come: duetime schedules upcoming {schedule_id}\n"
    span = ("--from", "2026-02-01T00:00:00Z", "--to", "2026-02-01T00:30:00Z")
    result = live("schedules", "backfill", schedule_id, *span, "--per-minute", "6000")
    assert result.stdout.splitlines() == [
        "3 fire times will be run.",
        f"See what becomes of them: duetime schedules ledger {schedule_id}",
    ]
    head, *rows = live("schedules", "ledger", schedule_id).stdout.splitlines()
    assert head.split() == ["FIRE", "TIME", "OUTCOME", "LATE", "TASK", "STATUS", "NOTE"]
    times = [datetime.fromisoformat(" ".join(row.split()[:2])) for row in rows]
    offset = datetime(2026, 2, 1, tzinfo=UTC).astimezone().utcoffset()
    assert offset is not None
    assert [(time - offset).minute for time in times] == [20, 10, 0]
    assert all("fired" in row and "backfill 0" in row for row in rows)
    told = data(live("schedules", "ledger", schedule_id, "--limit", "2", "--json"))
    assert [row["outcome"] for row in told["items"]] == ["fired"] * 2
    assert "There are more" in live("schedules", "ledger", schedule_id, "--limit", "2").stdout
    assert "There are more" not in live("schedules", "ledger", schedule_id, "--all").stdout


def test_a_backfill_of_nothing(live: Any) -> None:
    schedule_id = made(live, "--every", "1d", "--anchor", LONG_AGO, "--handler", "echo")["id"]
    span = ("--from", "2026-02-01T01:00:00Z", "--to", "2026-02-01T02:00:00Z")
    result = live("schedules", "backfill", schedule_id, *span)
    assert result.stdout == "It has no fire time in that span: nothing will be run.\n"
    assert data(live("schedules", "backfill", schedule_id, *span, "--json")) == {"fire_times": 0}


def test_the_ledger_is_on_the_clock_of_the_rule_and_leaves_out_what_is_to_come(
    live: Any, system: Any
) -> None:
    words = ("--cron", "0 9 * * *", "--tz", "Asia/Tokyo", "--handler", "echo")
    schedule_id = made(live, *words)["id"]
    at = int(datetime(2026, 2, 1, tzinfo=UTC).timestamp() * 1_000)
    future = system.now() + 60_000
    outcomes = [(at, Expected.SKIPPED_MISFIRE, None), (at + 1, Expected.BROKEN, "odd\x1b rule")]
    rows = [
        LedgerRow(schedule_id=schedule_id, fire_time=t, version=1, outcome=o, error=e)
        for t, o, e in [*outcomes, (future, Expected.FIRED, None)]
    ]
    system.schedules.note(rows, system.now())
    _, broken, missed = live("schedules", "ledger", schedule_id).stdout.splitlines()
    assert broken.split() == ["2026-02-01", "09:00:00", "+09:00", "broken", "odd\ufffd", "rule"]
    assert missed.split() == ["2026-02-01", "09:00:00", "+09:00", "skipped_misfire"]


def test_update_changes_what_is_said_and_nothing_else(live: Any) -> None:
    words = ("--cron", "0 9 * * *", "--tz", "Europe/Berlin", "--gap", "skip", "--handler", "echo")
    before = made(live, *words, "--max-runs", "9", "--max-attempts", "3", "--grace", "5")
    result = live("schedules", "update", before["id"], "--name", "new", "--misfire", "skip")
    assert result.stdout.startswith(f"Changed {before['id']}  new: at 09:00 every day")
    after = shown(live, before["id"])
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"name", "misfire", "version", "updated_at"}
    assert after["misfire"] == {**before["misfire"], "policy": "skip"}
    live("schedules", "update", before["id"], "--base-delay", "9", "--priority", "low")
    task = shown(live, before["id"])["task"]
    assert task == before["task"] | {
        "priority": "low",
        "retry": before["task"]["retry"] | {"base_delay": 9.0},
    }


def test_another_rule_stays_in_its_zone(live: Any) -> None:
    words = ("--cron", "0 9 * * *", "--tz", "Europe/Berlin", "--gap", "skip", "--handler", "echo")
    schedule_id = made(live, *words, "--exclude-date", "2026-12-25")["id"]
    live("schedules", "update", schedule_id, "--cron", "0 10 * * *", "--dst-overlap", "both")
    berlin = {"timezone": "Europe/Berlin"}
    dst = {"gap": "skip", "overlap": "both"}
    after = shown(live, schedule_id)
    assert after["rule"] == {"type": "cron", "expression": "0 10 * * *", **berlin, "dst": dst}
    assert after["exclude"] == [{"type": "dates", "dates": ["2026-12-25"], **berlin}]
    live("schedules", "update", schedule_id, "--exclude-cron", "* 12 * * *")
    after = shown(live, schedule_id)
    assert after["exclude"] == [{"type": "cron", "expression": "* 12 * * *", **berlin}]


def test_another_zone_for_all_that_stands(live: Any) -> None:
    words = ("--cron", "0 9 * * *", "--cron", "0 12 * * *", "--every", "1h", "--handler", "echo")
    before = made(live, *words, "--exclude-date", "2026-12-25")
    live("schedules", "update", before["id"], "--tz", "Asia/Tokyo")
    after = shown(live, before["id"])
    assert [rule.get("timezone") for rule in after["rules"]] == ["Asia/Tokyo", "Asia/Tokyo", None]
    assert after["exclude"][0]["timezone"] == "Asia/Tokyo"
    assert after["rules"][2] == before["rules"][2]
    live("schedules", "update", before["id"], "--delay", "5", "--unset", "exclude")
    assert shown(live, before["id"])["rule"] == {"type": "delay", "delay": 5.0}
    refused = live("schedules", "update", before["id"], "--tz", "Asia/Tokyo")
    assert refused.exit_code == ExitCode.USAGE


def test_a_rate_gets_another_anchor(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    live("schedules", "update", schedule_id, "--anchor", LONG_AGO)
    rule = {"type": "rate", "every": 3600.0, "anchor": "2026-01-01T00:00:00.000Z"}
    assert shown(live, schedule_id)["rule"] == rule


def test_what_is_unset_is_as_by_default(live: Any) -> None:
    words = (
        "--max-runs",
        "9",
        "--ends-at",
        "2035-01-01T00:00:00Z",
        "--tag",
        "a=b",
        "--jitter",
        "9",
    )
    schedule_id = made(live, *HOURLY, *words)["id"]
    unset = [word for field in ("max_runs", "ends_at", "task.tags") for word in ("--unset", field)]
    live("schedules", "update", schedule_id, *unset)
    after = shown(live, schedule_id)
    wanted = {"max_runs": None, "ends_at": None, "jitter": 9.0}
    assert part(after, wanted) == wanted
    assert after["task"]["tags"] == {}


def test_what_show_said_may_come_back_edited(live: Any, tmp_path: Path) -> None:
    before = made(live, *HOURLY, "--name", "old")
    (tmp_path / "s.json").write_text(json.dumps({**before, "name": "new"}))
    words = ("schedules", "update", before["id"], "--file", str(tmp_path / "s.json"), "--json")
    assert data(live(*words)) | {"version": 0, "updated_at": ""} == before | {
        "name": "new",
        "version": 0,
        "updated_at": "",
    }
    assert made(live, "--file", str(tmp_path / "s.json"))["id"] != before["id"]


def test_a_change_of_nothing_is_refused(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    result = live("schedules", "update", schedule_id)
    assert result.exit_code == ExitCode.USAGE
    assert "say what to change" in result.stderr
    assert shown(live, schedule_id)["version"] == 1


def test_where_nobody_can_be_asked_yes_must_be_said(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    result = live("schedules", "delete", schedule_id, stdin="y\n")
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert shown(live, schedule_id)["status"] == "active"


@pytest.mark.parametrize(("answer", "gone"), [("y\n", True), ("n\n", False), ("", False)])
def test_who_is_asked_decides(
    live: Any, monkeypatch: pytest.MonkeyPatch, answer: str, gone: bool
) -> None:
    monkeypatch.setattr(output, "answerable", lambda: True)
    schedule_id = made(live, *HOURLY, "--name", "mine")["id"]
    result = live("schedules", "delete", schedule_id, stdin=answer)
    assert "Delete mine (every hour) and its ledger? [y/N]" in result.stderr
    assert result.exit_code == (ExitCode.OK if gone else ExitCode.NOT_DONE)
    told = f"Deleted {schedule_id}  mine (every hour)\n" if gone else ""
    assert result.stdout == told
    left = data(live("schedules", "list", "--json"))["items"]
    assert (left == []) == gone


def test_with_yes_nobody_is_asked(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    result = live("schedules", "delete", schedule_id, "--yes", "--json")
    assert data(result) == {"id": schedule_id, "deleted": True}
    assert live("schedules", "show", schedule_id).exit_code == ExitCode.NOT_FOUND


def test_the_wire_cannot_steer_the_terminal(live: Any) -> None:
    evil = "\x1b[2Jgone\x07\nand on"
    schedule_id = made(live, *HOURLY, "--name", evil, "--payload", '["\\u001b"]')["id"]
    live("schedules", "pause", schedule_id, "--note", evil)
    for words in (("list",), ("show", schedule_id), ("upcoming", schedule_id)):
        told = live("schedules", *words).stdout
        assert "gone" in told
        assert "\x1b" not in told
        assert "\x07" not in told
    assert len(live("schedules", "list").stdout.splitlines()) == 2
