"""What `duetime local` says when it starts, or cannot."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from duetime.local import runner
from duetime.local.options import LocalOptions
from duetime.local.welcome import welcome


class Store:
    name = "/tmp/[red]/duetime.db"

    def __init__(self, resumed: int = 0) -> None:
        self.resumed = resumed


def said(*handlers: str, demo: bool, resumed: int = 0) -> str:
    console = Console(file=StringIO(), width=40, highlight=False)
    store: Any = Store(resumed)
    welcome(console, LocalOptions(), store, handlers, demo=demo)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_paths_are_words_not_markup() -> None:
    words = said(demo=False, resumed=1_000)
    assert "(store: /tmp/[red]/duetime.db)\n" in words
    assert "Resumed 1,000 tasks" in words


def test_own_handlers_are_listed_on_one_line() -> None:
    names = [f"shop.handler_{number}" for number in range(9)]
    assert f"Handlers: {', '.join(names)}\n" in said("duetime.hello", *names, demo=False)
    assert "Handlers" not in said("duetime.hello", demo=False)


@pytest.mark.parametrize("demo", [True, False])
def test_where_to_see_the_demonstration(demo: bool) -> None:
    line = "curl -s 'http://127.0.0.1:8080/v1/tasks?namespace=demo'\n"
    assert (line in said(demo=demo)) == demo


class Started:
    """A runner that serves nothing; was the demonstration submitted?"""

    def __init__(self, resumed: int) -> None:
        self.backend = Store(resumed)
        self.calls: list[Any] = []
        self.api: Any = self
        self.pump: Any = self

    def call(self, request: Any) -> None:
        self.calls.append(request)

    def start(self) -> None: ...

    def serve(self, listener: Any) -> None:
        listener.close()


@pytest.mark.parametrize(
    ("demo", "resumed", "shown"), [(True, 0, True), (True, 3, False), (False, 0, False)]
)
def test_the_demonstration_is_for_a_fresh_start(
    monkeypatch: pytest.MonkeyPatch, demo: bool, resumed: int, shown: bool
) -> None:
    started = Started(resumed)
    for name, stand_in in {
        "Runner": lambda *_: started,
        "_tune_interpreter": lambda: None,
        "_drain": lambda *_: 0,
        "_listen": lambda *_: StringIO(),
    }.items():
        monkeypatch.setattr(runner, name, stand_in)
    monkeypatch.setattr(runner.logging, "basicConfig", lambda **_: None)
    assert runner.run(LocalOptions(demo=demo)) == 0
    assert bool(started.calls) == shown


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("no such host", 8080, "there is no such host; try another --host"),
        ("a..b", 8080, "there is no such host; try another --host"),
        ("203.0.113.1", 8080, "the host is not this machine; try another --host"),
        ("127.0.0.1", None, "the port is in use; try another --port"),
    ],
)
def test_what_keeps_it_from_listening(host: str, port: int | None, words: str) -> None:
    with runner.socket.create_server(("127.0.0.1", 0)) as other:
        port = port or other.getsockname()[1]
        with pytest.raises(runner.DuetimeError) as caught:
            runner._listen(host, port)
    assert str(caught.value) == f"cannot listen on {host}:{port}: {words}"
