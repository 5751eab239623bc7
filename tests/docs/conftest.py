"""A Duetime with a stepped clock, and a reader in an empty folder who uses it."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from duetime.api.app import Api
from duetime.client import AsyncClient, Client, current
from duetime.core.times import SECOND
from duetime.executor.executor import Executor
from duetime.executor.targets.python import run_handler
from duetime.handlers import registry
from tests.cli.conftest import Front, Shell, front, make_shell
from tests.docs.reader import DUETIME as READERS_DUETIME
from tests.docs.reader import Reader
from tests.factories import SteppedClock
from tests.world import World, sqlite_world

__all__ = ["front", "make_shell"]


@pytest.fixture
def world(front: Front) -> Iterator[World]:
    """Starts now: the API refuses a client's id whose time is not within minutes of its own."""
    with sqlite_world(clock=SteppedClock(time.time_ns() // 1_000_000)) as world:
        front.api = Api(
            world.ports,
            handlers=registry.defaults,
            version="9.9.9",
            secrets=lambda: ("shop-hook",),
            callbacks=True,
        )
        world.executor = Executor(
            world.ports, {"python": run_handler}, callback_url=READERS_DUETIME
        )
        yield world


@pytest.fixture
def reader(
    world: World, front: Front, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Reader]:
    """The folder is empty, no handler is registered, and waiting for a task runs what is due."""

    def run_due(_: float = 0) -> None:
        world.advance(SECOND)
        world.tick()
        while world.deliver():  # and the steps that become due by that
            pass

    async def run_due_async(_: float) -> None:
        run_due()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(current, "_default", None)
    monkeypatch.setenv("DUETIME_URL", front.url)
    monkeypatch.setitem(Client.__init__.__kwdefaults__, "sleep", run_due)
    monkeypatch.setitem(AsyncClient.__init__.__kwdefaults__, "sleep", run_due_async)
    imported = set(sys.modules)
    shell = Shell({"DUETIME_URL": front.url, "TERM": "dumb", "COLUMNS": "200"})
    reader = Reader(front.url, shell, run_due, front.api.call)
    with patch.dict(os.environ):  # for what the reader exports
        yield reader
    time.tzset()  # Django has set the time zone of the process
    if reader.site is not None:
        reader.site.__exit__(None, None, None)
    for name in set(sys.modules) - imported:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)):
            del sys.modules[name]
