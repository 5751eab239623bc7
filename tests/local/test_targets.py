"""A runner with a mail server and databases, as a user starts it."""

import sqlite3
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from duetime.core.errors import DuetimeError
from duetime.local.databases import open_database
from duetime.local.options import LocalOptions
from duetime.local.targets import service_targets, targets_allowed
from tests.executor.test_email import Mailbox, start
from tests.factories import SteppedClock
from tests.running import free_port, running, until

ARN = "arn:aws:sqs:eu-west-1:123456789012:orders"
INSERT = "INSERT INTO orders (id) VALUES (:task_id)"
SQL = {"type": "sql", "database": "main", "statement": INSERT}
EMAIL = {"type": "email", "from": "shop@example.com", "to": ["ann@example.net"]}
MAIL = {"subject": "Hi", "text": "Hello"}


def test_email_arrives_and_a_row_is_written(tmp_path: Path):
    mailbox = Mailbox()
    server = start(mailbox)
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE orders (id TEXT PRIMARY KEY)")
    options = (
        *("--smtp", f"smtp://127.0.0.1:{server.port}"),
        *("--database", f"main=sqlite:///{path}"),
    )
    with running(tmp_path / "data", free_port(), *options) as runner:
        row = runner.submit(target=SQL)
        email = runner.submit(target=EMAIL, payload=MAIL)
        until(lambda: {row, email} <= runner.ids("SUCCEEDED"))
        assert runner.task(row)["result"] == {"rows_changed": 1}
    server.stop()

    assert mailbox.only()["Message-ID"] == f"<{email}@example.com>"
    assert sqlite3.connect(path).execute("SELECT id FROM orders").fetchall() == [(row,)]


@pytest.mark.parametrize(
    ("options", "target", "field", "hint"),
    [
        ({}, EMAIL, "target.type", "start the runner with --smtp URL to allow it"),
        ({}, SQL, "target.type", "start the runner with --database NAME=URL to allow it"),
        (
            {"databases": {"other": "sqlite:///x"}},
            SQL,
            "target.database",
            "start the runner with --database NAME=URL to allow it",
        ),
    ],
)
def test_runner_without_a_server_refuses_its_targets(
    options: dict[str, Any], target: dict[str, Any], field: str, hint: str
):
    refusal = targets_allowed(LocalOptions(**options)).refusal(target)

    assert refusal is not None
    assert refusal.field == field
    assert refusal.message.endswith(hint)


def test_runner_allows_every_resource_on_aws():
    assert targets_allowed(LocalOptions()).refusal({"type": "sqs", "queue": ARN}) is None


def test_runner_has_an_email_target_only_with_a_mail_server():
    clock = SteppedClock()

    assert "email" not in service_targets(LocalOptions(), clock)
    assert "email" in service_targets(LocalOptions(smtp="smtp://127.0.0.1:25"), clock)


def test_postgresql_without_its_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    module = "duetime.executor.targets.postgresql_database"
    monkeypatch.setitem(sys.modules, module, ModuleType(module))

    with pytest.raises(DuetimeError, match=r"pip install 'duetime\[postgresql\]'"):
        open_database("postgresql:///shop")
