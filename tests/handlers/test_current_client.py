"""Which client handlers submit with."""

import asyncio
import os
import threading
from typing import Any

import pytest

import duetime
from duetime.client import Client, current


class Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def submit(self, **fields: Any) -> Any:
        return {"id": self.name}


class AsyncNamed(Named):
    async def submit(self, **fields: Any) -> Any:
        return {"id": self.name}


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "_in_process", ())
    monkeypatch.setattr(current, "_default", None)


def used() -> str:
    return current.sync_client().name  # type: ignore[attr-defined]


def used_in_async_code() -> str:
    return asyncio.run(current.async_client().submit())["id"]


def elsewhere(ask: Any) -> Any:
    """Returns the answer of another thread."""
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(ask()))
    thread.start()
    thread.join()
    return answers[0]


def test_client_in_use_serves_every_thread():
    duetime.use(Named("first"))
    duetime.use(Named("second"))
    assert used() == "second"
    assert elsewhere(used) == "second"


def test_client_of_a_block_serves_the_block_alone():
    duetime.use(Named("process"))
    with duetime.use(Named("outer")):
        with duetime.use(Named("inner")) as inner:
            assert (used(), inner.name) == ("inner", "inner")
        assert used() == "outer"
        assert elsewhere(used) == "process"
    assert used() == "process"


def test_block_that_raises_restores_the_client():
    duetime.use(Named("process"))
    with pytest.raises(ZeroDivisionError), duetime.use(Named("block")):
        1 / 0  # noqa: B018
    assert used() == "process"


def test_blocks_that_begin_at_once_in_two_threads_leave_the_process_as_it_was():
    duetime.use(Named("process"))
    first, second = duetime.use(Named("first")), duetime.use(Named("second"))
    with first, second:
        assert elsewhere(used) == "process"
    assert used() == "process"


def test_plain_client_serves_async_code_in_a_thread():
    duetime.use(Named("plain"))
    assert used_in_async_code() == "plain"


def test_each_kind_of_client_serves_its_own_code():
    duetime.use(AsyncNamed("async"))
    with pytest.raises(RuntimeError, match="has an AsyncClient only"):
        used()
    duetime.use(Named("plain"))
    duetime.use(AsyncNamed("async"))
    assert used() == "plain"
    assert used_in_async_code() == "async"


def test_default_client_is_made_once_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DUETIME_URL", "http://duetime.example:1")
    client = current.sync_client()
    assert isinstance(client, Client)
    assert client.url == "http://duetime.example:1"
    assert current.sync_client() is client


def test_forked_child_makes_a_client_of_its_own(monkeypatch: pytest.MonkeyPatch):
    client = current.sync_client()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert current.sync_client() is not client
