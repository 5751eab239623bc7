"""`duetime worker`: its options. What it then does is in tests/worker and tests/smoke."""

from typing import Any

import pytest

from duetime.cli.exit_codes import ExitCode
from duetime.core.lanes import Lane
from duetime.worker import process
from duetime.worker.options import WorkerOptions

HTTP = "--handlers shop --url http://127.0.0.1:1"
AWS = "--handlers shop --pool batch"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[WorkerOptions]:
    """The workers that would be started."""
    found: list[WorkerOptions] = []
    monkeypatch.setattr(process, "run", lambda options, _: found.append(options) or 0)
    for name in ("DUETIME_TOKEN", "DUETIME_WORKER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("", "--handlers"),
        ("--handlers shop", "--pool"),
        (f"{HTTP} --pool=", "--pool"),
        (f"{HTTP} --pool Batch", "--pool"),
        (f"{AWS} --endpoint-url=", "--endpoint-url"),
        (f"{AWS} --endpoint-url nonsense", "--endpoint-url"),
        (f"{HTTP} --endpoint-url http://127.0.0.1:2", "--endpoint-url"),
        ("--handlers shop --url=", "--url"),
        (f"{HTTP} --token=", "--token"),
        (f"{HTTP} --lanes nope", "--lanes"),
        (f"{HTTP} --lanes=", "--lanes"),
        (f"{HTTP} --lanes high,", "--lanes"),
        (f"{HTTP} --concurrency 0", "--concurrency"),
        (f"{HTTP} --concurrency 100001", "--concurrency"),
        (f"{HTTP} --processes 257", "--processes"),
        (f"{HTTP} --grace -1", "--grace"),
        (f"{HTTP} --grace nan", "--grace"),
        (f"{HTTP} --grace 2h", "--grace"),
        (f"{HTTP} --control-port 65536", "--control-port"),
        (f"{HTTP} --name a:b", "--name"),
        (f"{HTTP} --name {'w' * 65}", "--name"),
        (f"{HTTP} --log-level loud", "--log-level"),
        ("drain --control-port 0", "--control-port"),
    ],
)
def test_wrong_option_is_named_and_no_worker_starts(
    duetime: Any, started: list[WorkerOptions], words: str, option: str
) -> None:
    result = duetime("worker", *words.split())

    assert result.exit_code == ExitCode.USAGE
    assert option in result.stderr.split("Invalid value for")[1].split(":")[0]
    assert started == []


def test_defaults_are_those_of_the_documentation(
    duetime: Any, started: list[WorkerOptions]
) -> None:
    assert duetime("worker", *HTTP.split()).exit_code == ExitCode.OK

    [options] = started
    assert (options.concurrency, options.grace, options.lanes) == (8, 25.0, tuple(Lane))
    assert (options.pool, options.processes, options.control_port) == (None, None, None)
    assert options.token is None


def test_worker_token_comes_before_the_token_of_clients(
    duetime: Any, started: list[WorkerOptions], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUETIME_TOKEN", "of-clients")
    duetime("worker", *HTTP.split())
    monkeypatch.setenv("DUETIME_WORKER_TOKEN", "of-workers")
    duetime("worker", *HTTP.split())
    duetime("worker", *AWS.split())

    assert [options.token for options in started] == ["of-clients", "of-workers", None]


def test_drain_says_that_no_worker_answers(duetime: Any) -> None:
    result = duetime("worker", "drain", "--control-port", "1")

    assert result.exit_code == ExitCode.UNREACHABLE
    assert "no worker answers on the control port 1" in result.stderr
