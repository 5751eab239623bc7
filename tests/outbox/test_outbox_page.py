"""The page about the outbox: its snippets and commands work as they are printed."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from duetime.cli import app
from duetime.client import Client
from tests.outbox.shop import Shop

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "outbox.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("connect", ["postgresql"], indirect=True)
def test_page_works_as_it_is_printed(
    shop: Shop,
    postgresql: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("duetime.Client", lambda: shop.client, raising=False)
    monkeypatch.setattr(
        "duetime.outbox.sql.Outbox.__init__.__kwdefaults__", {"clock": shop.world.clock.now}
    )
    names: dict[str, Any] = {"url": postgresql}
    for block in blocks("python"):
        exec(block, names)

    assert names["connection"].execute("SELECT count(*) FROM orders").fetchone() == (1,)
    assert capsys.readouterr().out == "1 0 0\n"
    shop.client = Client("http://duetime", transport=shop.transport)  # the page has closed its own
    assert shop.drain().submitted == 1
    items = sorted(task["payload"]["item"] for task in shop.client.list())
    assert items == ["salt", "tea"]


def test_commands_of_the_page_exist() -> None:
    group: Any = typer.main.get_command(app)
    drain = group.commands["outbox"].commands["drain"]
    known = {option for parameter in drain.params for option in parameter.opts}
    for line in "".join(blocks("sh")).splitlines():
        words = shlex.split(line)
        assert words[:3] == ["duetime", "outbox", "drain"]
        assert {word for word in words if word.startswith("--")} <= known
