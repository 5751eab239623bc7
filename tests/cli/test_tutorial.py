"""The tutorial, played from beginning to end: every command that a reader types."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duetime.client import Client
from duetime.handlers import registry

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text()
TUTORIAL = re.sub(r"\bshop\.(greet|restock)", r"tutorial.\1", PAGE)  # names no other test has
RUNNER = ("make", ".", "duetime local")
CLIENT_DEFAULTS = Client.__init__.__kwdefaults__

# The tutorial waits; the test does not.
NO_DELAY = {"--in": "0"}
NO_PAUSES = ("--base-delay", "0", "--retry-jitter", "0")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TUTORIAL, re.DOTALL)


def typed() -> list[str]:
    lines = "\n".join(blocks("sh")).splitlines()
    return [line for line in lines if line and not line.startswith(RUNNER)]


class Reader:
    """Types the commands, and puts the id that the last output named in place of ID."""

    def __init__(self, live: Any) -> None:
        self._live = live
        self.shown: dict[str, str] = {}
        self._id = ""

    def type(self, line: str) -> int:
        words = shlex.split(line)
        if words[0] != "duetime":
            return subprocess.run(words, check=False).returncode
        words = [self._id if word == "ID" else word for word in words[1:]]
        words = [NO_DELAY.get(words[i - 1], word) for i, word in enumerate(words)]
        if words[0] == "submit":
            words += NO_PAUSES
        result = self._live(*words)
        assert result.stderr == ""
        named = re.search(r"^(?:Submitted|Created) (\w{26})", result.stdout, re.MULTILINE)
        self._id = named[1] if named else self._id
        self.shown[line] = result.stdout
        return int(result.exit_code)


def test_every_command_of_the_tutorial_does_what_it_says(
    live: Any, system: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(CLIENT_DEFAULTS, "sleep", lambda _seconds: system.run_due())
    [source] = blocks("python")
    Path("handlers").mkdir()
    Path("handlers/tutorial_shop.py").write_text(source)
    registry.load("handlers")
    reader = Reader(live)

    codes = {line: reader.type(line) for line in typed()}

    [dies] = [line for line in codes if "--max-attempts" in line]
    assert [line for line, code in codes.items() if code] == [dies]
    assert "attempt 2 of 3 failed (ConnectionError" in reader.shown[dies]
    assert '"Hello, Ada!"' in reader.shown[typed()[0]]
    assert "Redriven 1 task." in "".join(reader.shown.values())
    assert '{"ordered": "tea", "attempt": 4}' in reader.shown["duetime watch ID"]
    assert "at 09:00, Monday to Friday" in "".join(reader.shown.values())
