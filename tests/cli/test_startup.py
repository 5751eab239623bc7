"""The output of `duetime local` when it starts or cannot start."""

import shutil
import socket
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from duetime.core.errors import DuetimeError
from duetime.local import runner
from duetime.local.console import command, suggestions, welcome
from duetime.local.options import LocalOptions
from duetime.local.server import listen


class Store:
    name = "/tmp/[red]/duetime.db"

    def __init__(self, resumed: int = 0) -> None:
        self.resumed = resumed


def said(*handlers: str, demo: bool, resumed: int = 0, width: int = 80, **options: Any) -> str:
    console = Console(file=StringIO(), width=width, highlight=False)
    store: Any = Store(resumed)
    welcome(console, LocalOptions(**options), store, handlers, demo=demo)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_paths_are_not_markup() -> None:
    words = said(demo=False, resumed=1_000, width=40)
    assert "(store: /tmp/[red]/duetime.db)\n" in words
    assert "Resumed 1,000 tasks" in words


def test_one_resumed_task_is_not_several() -> None:
    assert "Resumed 1 task that had not finished.\n" in said(demo=False, resumed=1)


def test_own_handlers_are_listed_on_one_line() -> None:
    names = [f"shop.handler_{number}" for number in range(9)]
    assert "Handlers: shop.handler_0, shop.handler_1\n" in said(
        "duetime.hello", *names[:2], demo=False
    )
    assert f"Handlers: {', '.join(names)}"[:79] + "…\n" in said("duetime.hello", *names, demo=False)
    assert "Handlers" not in said("duetime.hello", demo=False)


@pytest.mark.parametrize("demo", [True, False])
def test_the_welcome_says_where_to_see_the_demonstration(demo: bool) -> None:
    assert (" list --namespace demo\n" in said(demo=demo)) == demo


@pytest.mark.parametrize("port", [8080, 65_535])
@pytest.mark.parametrize("script", ["duetime", ".venv/bin/duetime"])
def test_the_welcome_fits_80_columns(
    script: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr("sys.argv", [script])
    words = said("demo.hello", demo=True, port=port)
    assert f"  {script} submit --handler duetime.hello \\\n" in words
    assert max(len(line) for line in words.splitlines()) <= 80


def test_the_welcome_sets_the_address_for_the_command_line_where_it_is_not_the_usual_one() -> None:
    assert "export DUETIME_URL=http://127.0.0.1:9000\n" in said(demo=False, port=9000)
    assert "export" not in said(demo=False)


@pytest.mark.parametrize(
    ("found", "script", "called"),
    [
        ("/usr/bin/duetime", "/usr/bin/duetime", "duetime"),
        (None, ".venv/bin/duetime", ".venv/bin/duetime"),
        (None, "/x/duetime/__main__.py", f"{sys.executable} -m duetime"),
    ],
)
def test_the_welcome_calls_the_command_line_as_the_reader_can(
    found: str | None, script: str, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: found)
    monkeypatch.setattr("sys.argv", [script])
    assert command() == called


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_commands_of_the_welcome_work(live: Any, front: Any, system: Any) -> None:
    """Each is run as it is printed, by a shell that knows `duetime` as a function."""
    printed = list(suggestions(front.url, "duetime", demo=True))
    script = "\n".join(line for line in printed if "--watch" not in line and "show ID" not in line)
    script = script.replace("hello \\\n", "hello\n").replace("duetime.hello", "echo")
    calls = f'duetime() {{ "{sys.executable}" -m duetime "$@"; }}\nset -e\n{script}'
    done = subprocess.run(["sh", "-c", calls], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Submitted ")
    assert done.stdout.count('"handler":"echo"') == 3


class Started:
    """A runner that serves nothing; it records its calls, the demonstration among them."""

    def __init__(self, resumed: int) -> None:
        self.backend = Store(resumed)
        self.failure = None
        self.calls: list[Any] = []
        self.api: Any = self
        self.order: list[str] = []

    def call(self, request: Any) -> None:
        self.calls.append(request)

    def prepare(self) -> None:
        self.order.append("prepared")

    def start(self) -> None:
        self.order.append("started")

    def started(self, *_: Any, **__: Any) -> None:
        self.order.append("welcomed")

    def serve(self) -> None: ...


@pytest.mark.parametrize(
    ("demo", "resumed", "shown"), [(True, 0, True), (True, 3, False), (False, 0, False)]
)
def test_the_demonstration_is_for_a_fresh_start(
    monkeypatch: pytest.MonkeyPatch, demo: bool, resumed: int, shown: bool
) -> None:
    started = Started(resumed)
    for name, stand_in in {
        "Roles": lambda *_: started,
        "notices_for": lambda *_: started,
        "tune_interpreter": lambda: None,
        "_drain": lambda *_: 0,
        "listen": lambda *_: StringIO(),
    }.items():
        monkeypatch.setattr(runner, name, stand_in)
    assert runner.run(LocalOptions(demo=demo)) == 0
    assert bool(started.calls) == shown
    assert started.order == ["prepared", "welcomed", "started"], "no event before the welcome"


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("no such host", 8080, "there is no such host; try another --host"),
        ("a..b", 8080, "there is no such host; try another --host"),
        ("203.0.113.1", 8080, "the host is not this machine; try another --host"),
        ("127.0.0.1", None, "the port is in use; try another --port"),
    ],
)
def test_error_says_why_the_port_cannot_be_used(host: str, port: int | None, words: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = port or other.getsockname()[1]
        with pytest.raises(DuetimeError) as caught:
            listen(host, port)
    assert str(caught.value) == f"cannot listen on {host}:{port}: {words}"
