"""Every example and command of the page "Declare schedules in code" works as it says."""

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from duetime.handlers import registry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "schedules-in-code.md").read_text()
SOURCE, CLIENT = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
MANIFEST, PLAN, REFUSAL, MISFIT = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [
    shlex.split(line, comments=True)[1:]
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project of the page; its handlers are loaded, as in a runner."""
    (tmp_path / "shop/handlers").mkdir(parents=True)
    file = tmp_path / "shop/handlers/reports.py"
    file.write_text(SOURCE)
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop("reports", None)
    registry.load("handlers")
    sys.modules.pop("reports")
    return file


def without_ids(text: str) -> list[str]:
    return [re.sub(r"\b0{10}\w{16}\b", "", line) for line in text.splitlines()]


def test_commands_of_the_page_do_what_it_shows(live: Any):
    manifest, dry_run, sync, detach, retire = COMMANDS

    assert live(*manifest).stdout == MANIFEST
    live("sync", "handlers", "--app", "old-name")
    assert live(*retire).exit_code == 0
    assert "would sync" in live(*dry_run).stdout
    assert without_ids(live(*sync).stdout) == without_ids(PLAN)
    assert live(*detach).stdout.startswith("Detached ")


def test_computed_argument_is_refused_as_the_page_shows(live: Any, shop: Path):
    shop.write_text(SOURCE.replace('"10m"', "TEN_MINUTES"))

    assert live("manifest", "handlers").stderr.split() == REFUSAL.split()


def test_payload_that_does_not_fit_is_refused_as_the_page_shows(live: Any, shop: Path):
    shop.write_text(SOURCE.replace('"full": False', '"ful": False'))

    assert live("manifest", "handlers").stderr.split() == MISFIT.split()


def test_example_of_the_client_prints_the_plan(
    live: Any, front: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("DUETIME_URL", front.url)

    exec(CLIENT, {"__name__": "the_page"})

    printed = capsys.readouterr().out.splitlines()
    assert printed == ["create mail.poll", "create fast", "create full", "create reports.daily"]
