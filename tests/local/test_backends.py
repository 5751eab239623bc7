"""The longest timeout that each backend of the local runner allows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.aws.settings import queue_setting
from duetime.local.backends import Backend, open_backend
from duetime.local.moto_backend import fair_moto
from duetime.local.options import LocalOptions

DAYS_7 = 604_800


@contextmanager
def opened(**options: Any) -> Iterator[Backend]:
    backend = open_backend(LocalOptions(**options), lambda changes: None, lambda lost: None)
    yield backend
    backend.close()


def test_sqlite_runner_takes_tasks_of_seven_days(tmp_path: Path):
    with opened(data=tmp_path) as backend:
        assert backend.longest_timeout == DAYS_7


def test_runner_that_executes_alone_on_moto_takes_them_too():
    with opened(backend="moto") as backend:
        assert backend.longest_timeout == DAYS_7


@pytest.mark.parametrize(("given", "longest"), [(None, 840), ("300", 300)])
def test_runner_beside_a_deployment_keeps_to_the_limit_of_that(
    monkeypatch: pytest.MonkeyPatch, given: str | None, longest: int
):
    """The functions of the stage may be the ones that take a task."""
    with fair_moto():
        urls = ensure_resources(clients.dynamodb(), clients.sqs(), table="deployed")
        monkeypatch.setenv("DUETIME_TABLE", "deployed")
        monkeypatch.setenv("DUETIME_QUEUES", queue_setting(urls))
        if given:
            monkeypatch.setenv("DUETIME_LONGEST_TIMEOUT", given)
        with opened(backend="aws") as backend:
            assert backend.longest_timeout == longest
