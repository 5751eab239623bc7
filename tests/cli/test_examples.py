"""The examples and the Python of the pages run."""

import json
import os
import re
import sys
from datetime import datetime
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import Any

import pytest

from duetime.handlers import registry

EXAMPLES = Path(__file__).parents[2] / "examples"
MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "write-handlers.md"
REQUESTS = sorted((EXAMPLES / "requests").glob("*.json"))


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAYMENTS_DB", str(tmp_path / "payments.db"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    registry.load(str(EXAMPLES / "handlers"))
    monkeypatch.setattr(sys.modules["idempotent"], "FILE", str(tmp_path / "payments.db"))


@pytest.fixture
def ended(live: Any, system: Any) -> Any:
    """Submits a task, runs it once and returns it."""

    def run(handler: str, payload: Any) -> Any:
        words = ("--handler", handler, "--payload", json.dumps(payload), "--base-delay", "60")
        task_id = json.loads(live("submit", *words, "--json").stdout)["id"]
        system.run_due()
        return json.loads(live("show", task_id, "--json").stdout)

    return run


@pytest.mark.parametrize("request_file", REQUESTS, ids=lambda path: path.stem)
def test_every_request_is_accepted(live: Any, request_file: Path) -> None:
    result = live("submit", "--from", str(request_file))
    assert (result.exit_code, result.stderr) == (0, "")


def test_hello(ended: Any) -> None:
    task = ended("demo.hello", {"name": "Ada"})
    assert task["result"] == {"greeting": "Hello, Ada!", "attempt": 1}
    assert ended("demo.hello", None)["result"]["greeting"] == "Hello, world!"


def test_reports_publish_their_progress(ended: Any) -> None:
    task = ended("reports.daily", {"day": 1, "pages": 0})
    assert (task["status"], task["progress"]["fraction"]) == ("SUCCEEDED", 1.0)


def test_reports_stop_when_asked(live: Any, system: Any) -> None:
    words = ("--handler", "reports.daily", "--payload", '{"day": 1}')
    task_id = json.loads(live("submit", *words, "--json").stdout)["id"]
    [run] = system.lease()
    live("cancel", task_id)
    run.context.heartbeat()
    system.executor.record_and_lease(ended=[system.executor.run_target(run)])
    assert json.loads(live("show", task_id, "--json").stdout)["status"] == "CANCELLED"


def test_flaky_is_retried_and_bad_input_is_not(ended: Any) -> None:
    assert ended("demo.flaky", {"failures": 1})["status"] == "RETRYING"
    assert ended("demo.flaky", {"failures": 0})["status"] == "SUCCEEDED"
    assert ended("demo.flaky", {"failures": "many"})["status"] == "DEAD"


def test_orders_snooze_until_they_are_ready(ended: Any) -> None:
    assert ended("orders.collect", {"ready_after": 0})["result"] == {"looked": 1}
    task = ended("orders.collect", {"ready_after": 1})
    assert (task["status"], task["error"]["type"]) == ("RETRYING", "Snooze")


def test_prices_retry_after_the_time_that_the_service_asks_for(ended: Any) -> None:
    task = ended("prices.fetch", {"wait": 600})
    assert (task["status"], task["error"]["type"]) == ("RETRYING", "RetryLater")
    due_at, updated_at = (datetime.fromisoformat(task[key]) for key in ("due_at", "updated_at"))
    assert (due_at - updated_at).total_seconds() == 600


def test_encoding_runs_in_a_child(ended: Any) -> None:
    task = ended("video.encode", {"rounds": 1})
    assert task["result"]["digest"] == pbkdf2_hmac("sha256", b"frame", b"salt", 1).hex()[:8]
    assert task["result"]["pid"] != os.getpid()
    assert task["progress"]["message"] == "encoded"


def test_the_handlers_of_the_manual_run(ended: Any) -> None:
    for block in re.findall(r"```python\n(.*?)```", MANUAL.read_text(), re.DOTALL):
        source = block.replace('@task("', '@task("manual.')
        exec(source, {"__name__": "the_manual"})
    assert ended("manual.reports.daily", {"day": 1})["result"] == {"pages": 10}
    assert ended("manual.reports.daily", {})["status"] == "DEAD"
    encode = registry.find("manual.video.encode")
    assert encode is not None
    assert encode.isolated


def test_a_charge_is_made_once(live: Any, system: Any, ended: Any) -> None:
    first = ended("payments.charge", {"account": "ada", "cents": 500})
    assert first["result"] == {"account": "ada", "charged_now": True, "total_cents": 500}
    charge, ctx = registry.find("payments.charge"), Attempt(first["id"], 2)
    again = charge(first["payload"], ctx)  # type: ignore[misc, arg-type]
    assert again == {"account": "ada", "charged_now": False, "total_cents": 500}
    with pytest.raises(RuntimeError, match="taken over"):
        charge(first["payload"], Attempt(first["id"], 1))  # type: ignore[misc, arg-type]
    assert ended("payments.charge", {"account": "ada"})["status"] == "DEAD"


class Attempt:
    """The part of a context that a charge needs."""

    def __init__(self, key: str, fence: int) -> None:
        self.idempotency_key, self.fencing_token = key, fence
