"""The Python in the README, and in the package's own docstring, runs."""

import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import duetime as package
from duetime.client import Client
from duetime.handlers import registry

README = (Path(__file__).parents[2] / "README.md").read_text()
CLIENT_DEFAULTS = Client.__init__.__kwdefaults__


def renamed(text: str) -> str:
    """The text with handlers whose names no other test registers."""
    return re.sub(r'"((?:shop|reports)\.\w+)"', r'"readme.\1"', text)


@pytest.fixture(autouse=True)
def url(front: Any, system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUETIME_URL", front.url)
    monkeypatch.setitem(CLIENT_DEFAULTS, "sleep", lambda _seconds: system.run_due())


def test_python_of_the_readme_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = re.findall(r"```python\n(.*?)```", renamed(README), re.DOTALL)
    handler, client, scheduled, graph = found
    for name in ("handlers", "handlers.shop"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    exec(handler, vars(sys.modules["handlers.shop"]))
    assert registry.find("readme.shop.restock") is not None

    exec(client.replace("delay=5", "delay=0"), {"__name__": "a_script"})

    assert capsys.readouterr().out == "SUCCEEDED\n"
    exec(scheduled.replace("readme.", "declared."), {"__name__": "handlers.reports"})
    daily = registry.find("declared.reports.daily")
    assert daily is not None
    assert [schedule.rule["expression"] for schedule in daily.schedules] == ["0 9 * * 1-5"]

    registry.load("duetime.local.demo")
    exec(graph, {"__name__": "a_script"})
    assert capsys.readouterr().out == "Hello, 2 shelves!\n"


def test_python_of_the_package_docstring_runs(live: Any) -> None:
    source = textwrap.dedent(
        renamed(package.__doc__ or "").partition("::\n")[2].rpartition("\n\n")[0]
    )

    exec(source, {"__name__": "a_module"})

    assert "readme.reports.daily" in live("list").stdout
