import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from duetime.cli.exit_codes import ExitCode
from duetime.core.shares import Weights
from duetime.core.times import DAY
from duetime.local.options import LocalOptions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[LocalOptions]:
    """The options that the runner got; it ends with code 7."""
    seen: list[LocalOptions] = []
    runner = ModuleType("duetime.local.runner")
    runner.run = lambda options: seen.append(options) or 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "duetime.local.runner", runner)
    return seen


def test_local_needs_no_option(duetime: Any, asked: list[LocalOptions]) -> None:
    assert duetime("local").exit_code == 7
    assert asked == [LocalOptions()]


def test_every_option_arrives(duetime: Any, asked: list[LocalOptions], tmp_path: Path) -> None:
    words = f"--host 0.0.0.0 --port 9000 --data {tmp_path} --handlers {tmp_path} --handlers a.b"
    words += " --reload --token t0ken --worker-token w0rker"
    words += (
        " --tick 1m30s --concurrency 4 --catch-up 7 --no-demo --log-level DEBUG --log-format JSON"
    )
    words += " --weights 50/30/20 --age-after 5m"
    words += " --secrets secrets.json --quotas quotas.json"
    words += " --allow-private --allow-host 10.1.0.0/16 --allow-host db.internal"
    duetime("local", *words.split())
    assert asked == [
        LocalOptions(
            host="0.0.0.0",
            port=9000,
            token="t0ken",
            worker_token="w0rker",
            data=tmp_path,
            handlers=(str(tmp_path), "a.b"),
            reload=True,
            tick=90.0,
            concurrency=4,
            weights=Weights(high=50, medium=30, low=20),
            age_after=300.0,
            catch_up=7,
            allow_private=True,
            allow_hosts=("10.1.0.0/16", "db.internal"),
            secrets=Path("secrets.json"),
            quotas=Path("quotas.json"),
            demo=False,
            log_level="debug",
            log_format="json",
        )
    ]


def test_aging_can_be_turned_off(duetime: Any, asked: list[LocalOptions]) -> None:
    duetime("local", "--age-after", "0")
    assert asked == [LocalOptions(age_after=0)]


def test_other_stores(duetime: Any, asked: list[LocalOptions]) -> None:
    duetime("local", "--memory")
    duetime("local", "--backend", "moto")
    duetime("local", "--backend", "aws", "--endpoint-url", "http://127.0.0.1:8000")
    assert asked == [
        LocalOptions(memory=True),
        LocalOptions(backend="moto"),
        LocalOptions(backend="aws", endpoint_url="http://127.0.0.1:8000"),
    ]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--memory --data x", "--memory"),
        ("--memory --backend moto", "--memory"),
        ("--data x --backend aws", "--data"),
        ("--data pyproject.toml", "--data"),
        ("--endpoint-url http://x", "--endpoint-url"),
        ("--endpoint-url http://x --backend moto", "--endpoint-url"),
        ("--endpoint-url x --backend aws", "--endpoint-url"),
        ("--endpoint-url http:// --backend aws", "--endpoint-url"),
        ("--reload", "--reload"),
        ("--port 0", "--port"),
        ("--port 65536", "--port"),
        ("--tick 0", "--tick"),
        ("--tick nan", "--tick"),
        ("--tick 0.09", "--tick"),
        ("--tick 181", "--tick"),
        ("--concurrency 0", "--concurrency"),
        ("--weights 60/30", "--weights"),
        ("--weights 60/30/20", "--weights"),
        ("--weights 70/30/0", "--weights"),
        ("--age-after 0.5", "--age-after"),
        ("--age-after -5", "--age-after"),
        ("--age-after 8d", "--age-after"),
        ("--catch-up 0", "--catch-up"),
        ("--catch-up 2.5", "--catch-up"),
        ("--backend redis", "--backend"),
        ("--allow-host http://x", "--allow-host"),
        ("--allow-host 10.0.0.1/8", "--allow-host"),
        ("--smtp mail.example.com", "--smtp"),
        ("--smtp smtp://ann:s3cret@mail.example.com", "--smtp"),
        ("--database sqlite:///app.db", "--database"),
        ("--database main=", "--database"),
        ("--database main=mysql://h/db", "--database"),
        ("--database main=@/nowhere/url", "--database"),
        ("--database a=sqlite:///x --database a=sqlite:///y", "--database"),
        ("--pool A", "--pool"),
        ("--pool batch --backend moto", "--pool"),
        ("--workers -1", "--workers"),
        ("--worker-token w0rk", "--worker-token"),
        ("--token t0ken --worker-token t0ken", "--worker-token"),
        ("--log-level loud", "--log-level"),
        ("--log-format xml", "--log-format"),
    ],
)
def test_options_that_conflict_are_named(
    duetime: Any, asked: list[LocalOptions], words: str, option: str
) -> None:
    result = duetime("local", *words.split())
    assert result.exit_code == ExitCode.USAGE
    assert option in result.stderr.split("Invalid value for")[1].split(":")[0]
    assert asked == []


def test_mail_server_and_databases_arrive_from_options_files_and_the_environment(
    duetime: Any, asked: list[LocalOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql://ann:s3cret@db/shop\n")
    words = f"--smtp smtp://127.0.0.1:1025 --database a=sqlite:///a.db --database b=@{file}"
    duetime("local", *words.split())
    monkeypatch.setenv("DUETIME_SMTP", "smtps://mail.example.com")
    monkeypatch.setenv("DUETIME_DATABASES", "a=sqlite:///a.db b=postgresql:///shop")
    duetime("local")
    assert asked == [
        LocalOptions(
            smtp="smtp://127.0.0.1:1025",
            databases={"a": "sqlite:///a.db", "b": "postgresql://ann:s3cret@db/shop"},
        ),
        LocalOptions(
            smtp="smtps://mail.example.com",
            databases={"a": "sqlite:///a.db", "b": "postgresql:///shop"},
        ),
    ]


@pytest.mark.parametrize("option", ["--data", "--handlers", "--host"])
def test_empty_option_is_refused(duetime: Any, asked: list[LocalOptions], option: str) -> None:
    result = duetime("local", option, "")
    assert result.exit_code == ExitCode.USAGE
    assert f"Invalid value for {option}: is empty" in result.stderr
    assert asked == []


def test_error_has_no_prefix_of_pydantic(duetime: Any) -> None:
    said = duetime("local", "--log-level", "loud").stderr
    assert "'--log-level': 'loud' is not one of" in said


@pytest.mark.parametrize(
    ("end", "code"), [(KeyboardInterrupt(), ExitCode.INTERRUPTED), ("DataInUse", 1)]
)
def test_exit_code_of_local(
    duetime: Any, monkeypatch: pytest.MonkeyPatch, end: Any, code: int
) -> None:
    from duetime.core.errors import DataInUse

    def run(options: LocalOptions) -> int:
        raise DataInUse(str(options.data)) if end == "DataInUse" else end

    runner = ModuleType("duetime.local.runner")
    runner.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "duetime.local.runner", runner)
    result = duetime("local")
    assert result.exit_code == code
    assert ("another Duetime is running on .duetime" in result.stderr) == (end == "DataInUse")


@pytest.mark.parametrize(
    ("words", "kept"),
    [([], 30 * DAY), (["--retention", "1d"], DAY), (["--retention", "forever"], None)],
)
def test_retention_arrives(
    duetime: Any, asked: list[LocalOptions], words: list[str], kept: int | None
) -> None:
    duetime("local", *words)
    assert [options.retention for options in asked] == [kept]


def test_archive_arrives(duetime: Any, asked: list[LocalOptions], tmp_path: Path) -> None:
    duetime("local", "--archive", str(tmp_path / "new"))
    assert [options.archive for options in asked] == [tmp_path / "new"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--retention", "0"], "must be from 1d to 3650d, or forever"),
        (["--retention", "23h"], "must be from 1d to 3650d, or forever"),
        (["--retention", "3651d"], "must be from 1d to 3650d, or forever"),
        (["--retention", "never"], "is not a duration"),
        (["--retention", ""], "is empty"),
        (["--archive", ""], "is empty"),
        (["--archive", __file__], "is a file, and must be a folder"),
        (["--backend", "moto", "--retention", "1d"], "belongs to the SQLite store"),
        (["--backend", "moto", "--archive", "a"], "belongs to the SQLite store"),
        (["--backend", "moto", "--quotas", "a"], "belongs to the SQLite store"),
        (["--quotas", ""], "is empty"),
    ],
)
def test_retention_and_archive_are_checked(
    duetime: Any, asked: list[LocalOptions], words: list[str], reason: str
) -> None:
    result = duetime("local", *words)
    assert (result.exit_code, asked) == (ExitCode.USAGE, [])
    assert reason in " ".join(result.stderr.replace("│", " ").split())


def test_token_and_read_only_arrive(
    duetime: Any, asked: list[LocalOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    duetime("local", "--token", "t0ken", "--read-only")
    monkeypatch.setenv("DUETIME_TOKEN", "from-the-shell")
    duetime("local")

    assert asked == [
        LocalOptions(token="t0ken", read_only=True),
        LocalOptions(token="from-the-shell"),
    ]


@pytest.mark.parametrize("token", ["", "two words", "schlüssel"])
def test_token_that_no_header_can_carry_is_refused(
    duetime: Any, asked: list[LocalOptions], token: str
) -> None:
    refused = duetime("local", "--token", token)

    assert refused.exit_code == 2
    assert "--token" in refused.stderr
    assert asked == []
