"""The schedules page, the README and the examples of schedules: every command and body works."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from duetime.client import Client
from duetime.handlers import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "schedules.md").read_text()
README = (ROOT / "README.md").read_text()
REQUESTS = sorted((ROOT / "examples" / "requests" / "schedules").glob("*.json"))
CLIENT_DEFAULTS = Client.__init__.__kwdefaults__


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAYMENTS_DB", str(tmp_path / "payments.db"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    registry.load("duetime.local.demo")
    registry.load(str(ROOT / "examples" / "handlers"))


def blocks(language: str, text: str = PAGE) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands(text: str) -> list[list[str]]:
    """The words of every `duetime …` in it."""
    lines = "\n".join(blocks("sh", text)).replace("\\\n", " ").splitlines()
    typed = [shlex.split(line.removeprefix(".venv/bin/"), comments=True) for line in lines]
    return [words[1:] for words in typed if words and words[0] == "duetime"]


def a_schedule(live: Any) -> str:
    words = ("--cron", "0 9 * * 1-5", "--tz", "Europe/Berlin", "--handler", "demo.hello")
    return str(json.loads(live("schedules", "create", *words, "--json").stdout)["id"])


def test_page_shows_a_command_for_every_operation() -> None:
    typed = {words[1] for words in commands(PAGE) if words[0] == "schedules"}
    assert {"create", "list", "ledger", "update", "show", "trigger", "backfill"} < typed


README_COMMANDS = [words for words in commands(README) if words[0] in ("cron", "schedules")]


@pytest.mark.parametrize("words", commands(PAGE) + README_COMMANDS, ids=" ".join)
def test_every_command_of_the_page_works(
    live: Any, system: Any, words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(CLIENT_DEFAULTS, "sleep", lambda _seconds: system.run_due())
    schedule_id = a_schedule(live)
    words = [schedule_id if word == "ID" else word for word in words]
    if ">" in words:
        words = words[: words.index(">")]
    if "schedule.json" in words:
        saved = tmp_path / "schedule.json"
        saved.write_text(live("schedules", "show", schedule_id, "--json").stdout)
        words = [str(saved) if word == "schedule.json" else word for word in words]
    result = live(*words)
    assert (result.exit_code, result.stderr) == (0, "")


def test_readme_shows_cron_and_schedules() -> None:
    assert [words[0] for words in README_COMMANDS] == ["cron", "schedules"]


@pytest.mark.parametrize("block", blocks("json"))
def test_every_body_of_the_page_is_accepted(live: Any, block: str) -> None:
    result = live("schedules", "create", "--file", "-", stdin=block)
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("block", blocks("python"))
def test_python_of_the_page_runs(
    live: Any, front: Any, block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUETIME_URL", front.url)
    exec(block, {"__name__": "the_manual"})
    [made] = json.loads(live("schedules", "list", "--json").stdout)["items"]
    assert made["name"] == "daily-report"


POLICIES = re.findall(r"^\| `(gap|overlap): (\w+)` \| (.*?) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("field", "choice", "runs_at"), POLICIES)
def test_table_of_daylight_saving_is_true(
    duetime: Any, field: str, choice: str, runs_at: str
) -> None:
    expected = runs_at.split(" and ")
    after = "2027-03-28" if field == "gap" else "2027-10-31"
    words = ("--tz", "Europe/Berlin", "--after", after, "--count", str(len(expected)))
    result = duetime("cron", "30 2 * * *", *words, f"--{field}", choice)
    rows = [row.split() for row in result.stdout.splitlines()[2:] if "not run" not in row]
    assert [f"{row[1]}T{row[2]}{row[3]}" for row in rows] == expected


def test_table_of_daylight_saving_has_every_policy() -> None:
    assert len(POLICIES) == 5


def column(header: str, number: int) -> list[str]:
    """What is in backticks in a column of the table with that header."""
    rows = PAGE.split(header, 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    return [text for row in rows for text in re.findall("`(.*?)`", row.split("|")[number])]


ENTRIES = column("\n| entry | means |", 1)


@pytest.mark.parametrize("entry", [*ENTRIES, *column("\n| field | values | names |", 3)])
def test_every_cron_entry_of_the_page_is_valid(duetime: Any, entry: str) -> None:
    places = [["0", "9", "*", "*", "*"] for _ in range(5)]
    for place, fields in enumerate(places):
        fields[place] = entry
    codes = {duetime("cron", " ".join(fields)).exit_code for fields in places}
    assert 0 in codes


def test_page_has_the_whole_cron_syntax() -> None:
    assert {"L", "L-3", "20-L", "15W", "LW", "mon#2", "friL", "5L", "?", "0/5"} <= set(ENTRIES)


@pytest.mark.parametrize(
    ("expression", "instead"),
    [
        ("@every 5m", "--every 5m"),
        ("*/90 * * * *", "--every 90m"),
        ("0 */36 * * *", "--every 36h"),
        ("@reboot", "duetime submit"),
        ("at(2030-01-01T00:00:00)", "--at"),
        ("H/15 * * * *", "--jitter 5m"),
        ("0 9 * * 1-5 2030", "cron(0 9 ? * MON-FRI 2030)"),
        ("0 22-2 * * *", "22-23,0-2"),
    ],
)
def test_error_suggests_what_the_page_suggests(duetime: Any, expression: str, instead: str) -> None:
    result = duetime("cron", expression)
    assert result.exit_code == 2
    assert instead in " ".join(line.strip("│ ") for line in result.stderr.splitlines())
    assert instead in column("\n| written | write |", 2)


@pytest.mark.parametrize("request_file", REQUESTS, ids=lambda path: path.stem)
def test_every_example_request_is_accepted(live: Any, request_file: Path) -> None:
    result = live("schedules", "create", "--file", str(request_file))
    assert (result.exit_code, result.stderr) == (0, "")
