"""Command lines that are refused without a request, and errors when Duetime does not answer."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from duetime.cli import app
from duetime.cli.exit_codes import MEANINGS, ExitCode, code_of
from duetime.client import Conflict, NotFound, Unreachable, WaitTimeout
from duetime.core.errors import DataInUse

HELLO = ("submit", "--handler", "demo.hello")
EVERY = ("--every", "10s", "--handler", "demo.hello")
SOON = "2030-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("submit",), "--handler"),
        ((*HELLO, "--http", "http://x"), "--handler"),
        ((*HELLO, "--method", "GET"), "--method"),
        ((*HELLO, "--header", "A: b"), "--header"),
        (("submit", "--http", "http://x", "--header", "A"), "--header"),
        ((*HELLO, "--secret-header", "A=b"), "--secret-header"),
        ((*HELLO, "--sign-with", "b"), "--sign-with"),
        ((*HELLO, "--secret-url", "b"), "--handler"),
        (("submit", "--http", "http://x", "--secret-url", "b"), "--http"),
        (("submit", "--target", "{}", "--secret-url", "b"), "--target"),
        ((*HELLO, "--sign-with", ""), "--sign-with"),
        (("submit", "--http", "http://x", "--secret-header", "A"), "--secret-header"),
        (
            ("submit", "--http", "http://x", "--header", "a: b", "--secret-header", "A=b"),
            "--secret-header",
        ),
        ((*HELLO, "--target", "{}"), "--target"),
        (("submit", "--http", "http://x", "--target", "{}"), "--target"),
        (("submit", "--target", "sqs"), "--target"),
        (("submit", "--target", "[]"), "--target"),
        (("submit", "--target", "-", "--payload", "-"), "--target"),
        (("list", "--target", "typo"), "--target"),
        ((*HELLO, "--in", "soon"), "--in"),
        ((*HELLO, "--in", "1", "--at", "2026-11-16T09:00:00Z"), "--in"),
        ((*HELLO, "--at", "noon"), "--at"),
        ((*HELLO, "--expires-at", "noon"), "--expires-at"),
        ((*HELLO, "--timeout", "x"), "--timeout"),
        ((*HELLO, "--jitter", "x"), "--jitter"),
        ((*HELLO, "--base-delay", "x"), "--base-delay"),
        ((*HELLO, "--max-delay", "x"), "--max-delay"),
        ((*HELLO, "--retry-jitter", "x"), "--retry-jitter"),
        ((*HELLO, "--max-attempts", "x"), "--max-attempts"),
        ((*HELLO, "--priority", "urgent"), "--priority"),
        ((*HELLO, "--multiplier", "nan"), "--multiplier"),
        ((*HELLO, "--every", "0"), "--every"),
        (("watch", "t1", "--every", "0.01"), "--every"),
        ((*HELLO, "--tag", "x"), "--tag"),
        ((*HELLO, "--payload", "{"), "--payload"),
        ((*HELLO, "--wait", "5"), "--wait"),
        ((*HELLO, "--watch", "--wait", "x"), "--wait"),
        (("submit", "--from", "/no/such/file"), "--from"),
        (("watch", "t1", "--wait", "x"), "--wait"),
        (("list", "--status", "ODD"), "--status"),
        (("list", "--limit", "0"), "--limit"),
        (("show", ""), "ID"),
        (("cancel", "t1", " "), "ID"),
        (("run", ""), "ID"),
        (("change", "", "--in", "1h"), "ID"),
        (("change", "t1"), "--in"),
        (("change", "t1", "--in", "1", "--at", "2026-11-16T09:00:00Z"), "--in"),
        (("change", "t1", "--in", "soon"), "--in"),
        (("change", "t1", "--at", "noon"), "--at"),
        (("change", "t1", "--expires-at", "noon"), "--expires-at"),
        (("change", "t1", "--payload", "{"), "--payload"),
        (("change", "t1", "--tag", "x"), "--tag"),
        (("change", "t1", "--timeout", "x"), "--timeout"),
        (("change", "t1", "--priority", "urgent"), "--priority"),
        (("change", "t1", "--unset", "name"), "--unset"),
        (("change", "t1", "--tag", "a=b", "--unset", "tags"), "--unset"),
        (("retry", ""), "ID"),
        (("dlq", "list", "--since", "yesterday"), "--since"),
        (("dlq", "list", "--before", "2026-11-16T09:00:00"), "--before"),
        (("dlq", "list", "--since", ""), "--since"),
        (("dlq", "list", "--limit", "0"), "--limit"),
        (("dlq", "show", " "), "ID"),
        (("dlq", "redrive"), "--all"),
        (("dlq", "redrive", "--yes"), "--all"),
        (("dlq", "redrive", ""), "ID"),
        (("dlq", "redrive", "t1", "--all"), "--all"),
        (("dlq", "redrive", "t1", "--namespace", "a"), "--all"),
        (("dlq", "redrive", "--error-type", "E", "--all", "--yes"), "--all"),
        (("dlq", "redrive", "--all"), "--yes"),
        (("dlq", "redrive", "--since", "5x", "--yes"), "--since"),
        (("list", "--schedule", ""), "--schedule"),
        (("schedules", "create", "--handler", "x"), "--cron"),
        (("schedules", "create", "--every", "10s"), "--handler"),
        (("schedules", "create", *EVERY, "--http", "http://x"), "--handler"),
        (("schedules", "create", *EVERY, "--every", "often"), "--every"),
        (("schedules", "create", "--delay", "x", "--handler", "x"), "--delay"),
        (("schedules", "create", *EVERY, "--anchor", "noon"), "--anchor"),
        (("schedules", "create", "--cron", "* * * * *", "--anchor", SOON), "--anchor"),
        (("schedules", "create", *EVERY, "--tz", "Europe/Berlin"), "--tz"),
        (("schedules", "create", *EVERY, "--gap", "skip"), "--gap"),
        (("schedules", "create", *EVERY, "--dst-overlap", "both"), "--dst-overlap"),
        (("schedules", "create", *EVERY, "--gap", "odd"), "--gap"),
        (("schedules", "create", *EVERY, "--starts-at", "noon"), "--starts-at"),
        (("schedules", "create", *EVERY, "--ends-at", "2030-01-01T00:00:00"), "--ends-at"),
        (("schedules", "create", *EVERY, "--max-runs", "0"), "--max-runs"),
        (("schedules", "create", *EVERY, "--jitter", "x"), "--jitter"),
        (("schedules", "create", *EVERY, "--misfire", "odd"), "--misfire"),
        (("schedules", "create", *EVERY, "--grace", "x"), "--grace"),
        (("schedules", "create", *EVERY, "--window", "x"), "--window"),
        (("schedules", "create", *EVERY, "--per-minute", "nan"), "--per-minute"),
        (("schedules", "create", *EVERY, "--overlap", "odd"), "--overlap"),
        (("schedules", "create", *EVERY, "--pause-on-failure", "0"), "--pause-on-failure"),
        (("schedules", "create", *EVERY, "--timeout", "x"), "--timeout"),
        (("schedules", "create", *EVERY, "--file", "-"), "--file"),
        (("schedules", "create", "--file", "/no/such/file"), "--file"),
        (("schedules", "update", " ", "--name", "x"), "ID"),
        (("schedules", "update", "s1", "--unset", "rule"), "--unset"),
        (("schedules", "update", "s1", "--name", "x", "--file", "-"), "--file"),
        (("schedules", "show", ""), "ID"),
        (("schedules", "delete", "", "--yes"), "ID"),
        (("schedules", "delete", "s1"), "--yes"),
        (("schedules", "pause", ""), "ID"),
        (("schedules", "resume", ""), "ID"),
        (("schedules", "trigger", ""), "ID"),
        (("schedules", "trigger", "s1", "--wait", "5"), "--wait"),
        (("schedules", "trigger", "s1", "--every", "0"), "--every"),
        (("schedules", "backfill", "s1", "--from", "long ago"), "--from"),
        (("schedules", "backfill", "s1", "--from", "1d", "--to", "noon"), "--to"),
        (("schedules", "backfill", "s1", "--from", "1d", "--per-minute", "inf"), "--per-minute"),
        (("schedules", "upcoming", ""), "ID"),
        (("schedules", "upcoming", "s1", "--count", "0"), "--count"),
        (("schedules", "ledger", ""), "ID"),
        (("schedules", "ledger", "s1", "--limit", "0"), "--limit"),
        (("schedules", "list", "--status", "ODD"), "--status"),
        (("schedules", "preview"), "--cron"),
        (("schedules", "preview", "--every", "1h", "--after", "noon"), "--after"),
        (("local", "--objective", "99%"), "--objective"),
        (("local", "--objective", "99%/1s", "--objective", "fast=99%/1s"), "--objective"),
        (("local", "--port", "8080", "--metrics-port", "8080"), "--metrics-port"),
        (("stats", "--window", "8d"), "--window"),
        (("stats", "--window", "soon"), "--window"),
        (("stats", "--lane", "fast"), "--lane"),
        (("health", "--url", "nowhere"), "--url"),
    ],
)
def test_a_bad_option_is_named(duetime: Any, words: tuple[str, ...], option: str) -> None:
    result = duetime(*words)
    assert result.exit_code == ExitCode.USAGE
    assert result.stdout == ""
    assert "Invalid value for" in result.stderr
    assert option in result.stderr.split("Invalid value for")[1].split(":")[0]


def test_a_file_holds_the_whole_task(duetime: Any) -> None:
    result = duetime(*HELLO, "--in", "5", "--from", "-", stdin='{"target": {}}')
    assert result.exit_code == ExitCode.USAGE
    assert "--from: holds the whole task: put target, delay into it" in result.stderr


@pytest.mark.parametrize("command", [("create",), ("update", "s1")], ids=" ".join)
def test_a_file_holds_the_whole_schedule(duetime: Any, command: tuple[str, ...]) -> None:
    words = (*EVERY, "--name", "x", "--exclude-date", "2026-12-25", "--file", "-")
    result = duetime("schedules", *command, *words, stdin="{}")
    assert result.exit_code == ExitCode.USAGE
    assert "holds the whole schedule: put name, task, rule, exclude into it" in result.stderr


@pytest.mark.parametrize("text", ["[]", "1", "null"])
def test_a_file_that_holds_no_schedule(duetime: Any, text: str) -> None:
    result = duetime("schedules", "create", "--file", "-", stdin=text)
    assert result.exit_code == ExitCode.USAGE
    assert "--file: - holds no schedule" in result.stderr


def test_watch_does_not_follow_a_list(duetime: Any) -> None:
    result = duetime("submit", "--from", "-", "--watch", stdin='[{"target": {}}]')
    assert result.exit_code == ExitCode.USAGE
    assert "follows one task" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        HELLO,
        ("show", "t1"),
        ("list",),
        ("change", "t1", "--in", "1h"),
        ("run", "t1"),
        ("cancel", "t1"),
        ("retry", "t1"),
        ("watch", "t1"),
        ("health",),
        ("dlq", "list"),
        ("dlq", "show", "t1"),
        ("dlq", "redrive", "t1"),
        ("dlq", "redrive", "--all", "--yes"),
        ("schedules", "create", *EVERY),
        ("schedules", "list"),
        ("schedules", "show", "s1"),
        ("schedules", "update", "s1", "--name", "x"),
        ("schedules", "delete", "s1", "--yes"),
        ("schedules", "pause", "s1"),
        ("schedules", "resume", "s1"),
        ("schedules", "trigger", "s1"),
        ("schedules", "backfill", "s1", "--from", "1d"),
        ("schedules", "upcoming", "s1"),
        ("schedules", "ledger", "s1"),
        ("schedules", "preview", "--every", "1h"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("extra", [(), ("--url", "http://127.0.0.1:2")])
def test_unreachable_api_is_an_error_with_its_code(
    duetime: Any, words: tuple[str, ...], extra: tuple[str, ...]
) -> None:
    result = duetime(*words, *extra)
    url = extra[1] if extra else "http://127.0.0.1:1"
    assert result.exit_code == ExitCode.UNREACHABLE
    assert result.stdout == ""
    assert result.stderr == (
        f"Duetime does not answer at {url}; start it with `duetime local` or set DUETIME_URL\n"
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Unreachable("http://x"), ExitCode.UNREACHABLE),
        (NotFound(404, "No such task"), ExitCode.NOT_FOUND),
        (Conflict(409, "Conflict"), ExitCode.NOT_DONE),
        (WaitTimeout({"id": "t1", "status": "RUNNING"}, 5), ExitCode.TIMED_OUT),
        (DataInUse("x"), ExitCode.NOT_DONE),
    ],
)
def test_every_error_has_its_code(error: Any, code: ExitCode) -> None:
    assert code_of(error) is code


def test_help_has_the_exit_codes(duetime: Any) -> None:
    result = duetime("--help")
    assert result.exit_code == ExitCode.OK
    assert set(MEANINGS) == set(ExitCode)
    for code, meaning in MEANINGS.items():
        assert f"{code:>3}  {meaning}" in result.stdout


def every_command(command: Any = None, path: str = "") -> Iterator[str]:
    command = command or get_command(app)
    for name, below in getattr(command, "commands", {}).items():
        yield f"{path}{name}"
        yield from every_command(below, f"{path}{name} ")


def test_commands_are_listed_in_the_help() -> None:
    top = [
        "local",
        "submit",
        "show",
        "list",
        "change",
        "run",
        "cancel",
        "retry",
        "shift",
        "dlq",
        "purge",
        "archive",
        "outbox",
        "schedules",
        "workflows",
        "runs",
        "limits",
        "sync",
        "manifest",
        "cron",
        "console",
        *("worker", "worker drain"),
        "watch",
        "lanes",
        "stats",
        "slo",
        "forecast",
        *("quota", "stuck", "handlers", "workers", "me"),
        "health",
        "openapi",
    ]
    of_schedules = "create list show update delete pause resume trigger backfill detach upcoming"
    below = ["dlq list", "dlq groups", "dlq show", "dlq redrive", "dlq discard", "archive search"]
    below += ["outbox drain", *(f"limits {name}" for name in ("set", "show", "list", "delete"))]
    below += [f"schedules {name}" for name in f"{of_schedules} ledger preview".split()]
    below += [f"workflows {name}" for name in ("put", "list", "show", "delete")]
    below += [f"runs {name}" for name in ["submit", "show", "watch", "list", "cancel", "retry"]]
    assert sorted(every_command()) == sorted(top + below)


@pytest.mark.parametrize("name", list(every_command()))
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_help(duetime: Any, name: str, option: str) -> None:
    assert f"Usage: duetime {name}" in duetime(*name.split(), option).stdout


def test_a_group_without_a_command_shows_its_help(duetime: Any) -> None:
    assert "redrive" in duetime("dlq").output
    assert "backfill" in duetime("schedules").output


def test_version(duetime: Any) -> None:
    result = duetime("--version")
    assert result.exit_code == ExitCode.OK
    assert result.stdout.startswith("duetime ")


def test_help_loads_nothing_heavy() -> None:
    heavy = {
        "httpx",
        "starlette",
        "uvicorn",
        "boto3",
        "botocore",
        "croniter",
        "rich",
        "duetime.client",
        "duetime.cli.views",
        "duetime.local.runner",
    }
    code = f"import sys, duetime.cli; print(sorted({heavy!r} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
