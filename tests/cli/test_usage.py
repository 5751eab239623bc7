"""What the command line refuses before it asks anybody, and what it says when nobody answers."""

import subprocess
import sys
from typing import Any

import pytest

from duetime.cli.exits import MEANINGS, ExitCode, code_of
from duetime.client import ApiError, StillGoing, Unreachable
from lambdas.core.errors import DataInUse

HELLO = ("submit", "--handler", "demo.hello")


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("submit",), "--handler"),
        ((*HELLO, "--http", "http://x"), "--handler"),
        ((*HELLO, "--method", "GET"), "--method"),
        ((*HELLO, "--header", "A: b"), "--header"),
        (("submit", "--http", "http://x", "--header", "A"), "--header"),
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
        ("cancel", "t1"),
        ("retry", "t1"),
        ("watch", "t1"),
        ("health",),
        ("dlq", "list"),
        ("dlq", "show", "t1"),
        ("dlq", "redrive", "t1"),
        ("dlq", "redrive", "--all", "--yes"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("extra", [(), ("--url", "http://127.0.0.1:2")])
def test_nobody_answers(duetime: Any, words: tuple[str, ...], extra: tuple[str, ...]) -> None:
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
        (ApiError(404, "No such task"), ExitCode.NOT_FOUND),
        (ApiError(409, "Conflict"), ExitCode.NOT_DONE),
        (StillGoing({"id": "t1", "status": "RUNNING"}, 5), ExitCode.TIMED_OUT),
        (DataInUse("x"), ExitCode.NOT_DONE),
    ],
)
def test_every_error_has_its_code(error: Any, code: ExitCode) -> None:
    assert code_of(error) is code


def test_help_tells_the_exit_codes(duetime: Any) -> None:
    result = duetime("--help")
    assert result.exit_code == ExitCode.OK
    assert set(MEANINGS) == set(ExitCode)
    for code, meaning in MEANINGS.items():
        assert f"{code:>3}  {meaning}" in result.stdout


COMMANDS = ["local", "submit", "show", "list", "cancel", "retry", "watch", "health", "dlq"]


@pytest.mark.parametrize("name", [*COMMANDS, "dlq list", "dlq show", "dlq redrive"])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_has_help(duetime: Any, name: str, option: str) -> None:
    assert f"Usage: duetime {name}" in duetime(*name.split(), option).stdout


def test_a_group_without_a_command_shows_its_help(duetime: Any) -> None:
    assert "redrive" in duetime("dlq").output


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
        "duetime.client",
        "duetime.local.runner",
    }
    code = f"import sys, duetime.cli; print(sorted({heavy!r} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
