"""The page about live updates: its Python works."""

import threading
from contextlib import closing
from typing import Any

import pytest

from duetime.client import Client
from duetime.core.errors import PermanentError
from duetime.handlers import registry
from duetime.handlers.context import Context
from tests.docs.page import blocks
from tests.live_service import LiveService

PAGE = "how-to/live-updates.md"


@pytest.fixture(autouse=True)
def failing_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_handlers", {})

    @registry.task("shop.restock")
    def restock(payload: Any, ctx: Context) -> None:
        raise PermanentError("no shelf")


def test_code_of_the_page_prints_a_task_that_dies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    listens, followed = [each.text for each in blocks(PAGE) if each.language == "python"]
    with closing(LiveService()) as service:
        monkeypatch.setenv("DUETIME_URL", service.url)
        subscribed = watch_subscriptions(service, monkeypatch)
        names: dict[str, Any] = {}
        reader = threading.Thread(target=exec, args=(listens, names), daemon=True)
        reader.start()
        assert subscribed.wait(60)
        stored = Client().submit(target={"type": "python", "handler": "shop.restock"})
        service.run_due()
        reader.join(60)
        exec(followed.replace("01M…", stored["id"]), names)

    died, ended, running = capsys.readouterr().out.splitlines()
    assert died == f"{stored['id']} PermanentError"
    assert (ended, running) == ("DEAD None", "0 tasks run")


def watch_subscriptions(service: LiveService, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Returns an event that is set when a client has subscribed."""
    subscribed, subscribe = threading.Event(), service.live.hub.subscribe

    def watched(subscription: Any) -> None:
        subscribe(subscription)
        subscribed.set()

    monkeypatch.setattr(service.live.hub, "subscribe", watched)
    return subscribed
