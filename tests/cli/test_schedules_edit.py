"""`duetime schedules create` and `update` against the real API."""

import json
from pathlib import Path
from typing import Any

import pytest

from duetime.cli.exit_codes import ExitCode
from tests.cli.schedules import HOURLY, made, part, shown
from tests.cli.test_commands import data

LONG_AGO = "2026-01-01T00:00:00+00:00"
BODY = {
    "name": "n",
    "rule": {"type": "rate", "every": 3600},
    "task": {"target": {"type": "python", "handler": "echo"}},
}
TASK = ("--handler", "echo")


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
        "on_dead": "continue",
        "limits": [],
        "fairness_key": None,
        "pool": None,
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
def test_create_with_every_kind_of_rule(
    live: Any, words: tuple[str, ...], rules: list[Any]
) -> None:
    schedule = made(live, *words, "--http", "http://127.0.0.1:9/x", "--method", "put")
    found = schedule.get("rules") or [schedule["rule"]]
    assert [part(rule, wanted) for rule, wanted in zip(found, rules, strict=True)] == rules
    assert schedule["task"]["target"]["method"] == "PUT"


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
def test_create_accepts_expressions_of_other_schedulers(
    live: Any, words: tuple[str, ...], rules: list[Any], exclude: list[Any]
) -> None:
    schedule = made(live, *words, *TASK)
    usual = {"type": "cron", "timezone": "UTC"}
    assert (schedule.get("rules") or [schedule["rule"]]) == [usual | rule for rule in rules]
    assert schedule["exclude"] == [usual | exclusion for exclusion in exclude]


def test_eventbridge_s_rate_becomes_a_rate_in_any_zone(live: Any) -> None:
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
    error = " ".join(line.strip("│ ") for line in result.stderr.splitlines())
    assert "Invalid value for --seconds: is required with six fields; with seconds first:" in error
    assert "with seconds last: every second of minute 0 of hour 0 on day 9 of the month" in error


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


def test_an_update_changes_where_the_seconds_are(live: Any) -> None:
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


def test_create_prints_the_rule_the_next_fire_time_and_the_next_command(live: Any) -> None:
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


def test_refused_schedule_is_reported_field_by_field_with_a_caret(live: Any) -> None:
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


def test_update_changes_only_the_given_fields(live: Any) -> None:
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


def test_updated_rule_keeps_its_zone(live: Any) -> None:
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


def test_updated_zone_applies_to_rules_and_exclusions(live: Any) -> None:
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


def test_unset_field_gets_its_default(live: Any) -> None:
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


def test_update_accepts_the_edited_output_of_show(live: Any, tmp_path: Path) -> None:
    before = made(live, *HOURLY, "--name", "old")
    (tmp_path / "s.json").write_text(json.dumps({**before, "name": "new"}))
    words = ("schedules", "update", before["id"], "--file", str(tmp_path / "s.json"), "--json")
    assert data(live(*words)) | {"version": 0, "updated_at": ""} == before | {
        "name": "new",
        "version": 0,
        "updated_at": "",
    }
    assert made(live, "--file", str(tmp_path / "s.json"))["id"] != before["id"]


def test_update_without_a_change_is_refused(live: Any) -> None:
    schedule_id = made(live, *HOURLY)["id"]
    result = live("schedules", "update", schedule_id)
    assert result.exit_code == ExitCode.USAGE
    assert "say what to change" in result.stderr
    assert shown(live, schedule_id)["version"] == 1
