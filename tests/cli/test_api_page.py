"""The page of the HTTP API: every call, answer and line of Python in it works."""

import json
import re
import shlex
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from duetime.executor.executor import Executor
from duetime.executor.targets.python import run_handler
from duetime.executor.targets.sql import SqlTarget
from duetime.executor.targets.sqlite_database import SqliteDatabase
from duetime.handlers import registry
from tests.api.openapi import wrong_in
from tests.curl import curl

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text()
LOCAL = "http://127.0.0.1:8080"
DEPLOYED = "## Calling a deployed API"  # its examples need an account; test_deployed.py signs calls
ANYTHING = "…"
EXAMPLE = re.compile(r"```sh\n(?P<shell>.*?)```(?:\n\n```json\n(?P<answer>.*?)```)?", re.DOTALL)


def page_without_deployed() -> str:
    before, _, after = PAGE.partition(f"{DEPLOYED}\n")
    return before + re.sub(r"\A.*?^## ", "## ", after, count=1, flags=re.DOTALL | re.MULTILINE)


def examples() -> Iterator[tuple[list[str], Any]]:
    """Yields the commands of each example, and the answer that the page shows below them."""
    for found in EXAMPLE.finditer(page_without_deployed()):
        answer = found["answer"]
        commands = re.split(r"\n(?=curl |duetime )", found["shell"].strip())
        yield commands, json.loads(answer) if answer else ANYTHING


@dataclass(frozen=True)
class Outcome:
    """`problem` is None if the command did what it is for."""

    problem: str | None
    answer: Any = None


class Reader:
    """Types the commands of the page, and keeps the id of the last answer that has one for `$ID`.
    What is due runs after every command."""

    def __init__(self, url: str, system: Any, shell: Any) -> None:
        self._url, self._system, self._shell = url, system, shell
        self._id = ""

    def type(self, command: str) -> Outcome:
        line = command.replace("\\\n", " ").replace("$ID", self._id)
        program, *words = shlex.split(line, comments=True)
        outcome = self._duetime(words) if program == "duetime" else self._curl(words)
        if isinstance(outcome.answer, dict) and "id" in outcome.answer:
            self._id = outcome.answer["id"]
        self._system.run_due()
        return outcome

    def _duetime(self, words: list[str]) -> Outcome:
        result = self._shell(*(words[: words.index(">")] if ">" in words else words))
        return Outcome(result.stderr or result.stdout if result.exit_code else None)

    def _curl(self, words: list[str]) -> Outcome:
        assert any(word.startswith(LOCAL) for word in words)
        response = curl([word.replace(LOCAL, self._url) for word in words], httpx.request)
        problem = None if response.is_success else f"{response.status_code} {response.text}"
        return Outcome(problem, response.json() if response.content else None)


def differences(shown: Any, real: Any, path: str = "answer") -> list[str]:
    """What the page shows and the API does not answer. The page may leave fields out."""
    if shown in (ANYTHING, [ANYTHING]):
        return []
    if isinstance(shown, dict) and isinstance(real, dict):
        missing = [f"{path}.{name} is missing" for name in shown if name not in real]
        both = [name for name in shown if name in real]
        return missing + [d for n in both for d in differences(shown[n], real[n], f"{path}.{n}")]
    if isinstance(shown, list) and isinstance(real, list) and len(shown) == len(real):
        pairs = enumerate(zip(shown, real, strict=True))
        return [d for n, (s, r) in pairs for d in differences(s, r, f"{path}.{n}")]
    return [] if shown == real else [f"{path} is {real!r}, not {shown!r}"]


@pytest.fixture(autouse=True)
def handlers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAYMENTS_DB", str(tmp_path / "payments.db"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    registry.load("duetime.local.demo")
    registry.load(str(ROOT / "examples" / "handlers"))


@pytest.fixture
def database(system: Any, tmp_path: Path) -> Iterator[None]:
    """The database `main` of the page."""
    file = tmp_path / "shop.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE paid (task_id TEXT PRIMARY KEY, order_id INTEGER)")
    sql = SqlTarget({"main": SqliteDatabase(file)})
    system.executor = Executor(system.ports, {"python": run_handler, "sql": sql})
    yield
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT order_id FROM paid").fetchall() == [(17,)]


@pytest.mark.usefixtures("database")
def test_every_call_of_the_api_page_gets_the_answer_that_the_page_shows(
    front: Any, system: Any, live: Any
) -> None:
    reader = Reader(front.url, system, live)
    wrong = []
    for commands, shown in examples():
        outcomes = [reader.type(command) for command in commands]
        for command, outcome in zip(commands, outcomes, strict=True):
            wrong += [f"{command}\n{outcome.problem}"] if outcome.problem else []
        wrong += [f"{commands[-1]}\n{d}" for d in differences(shown, outcomes[-1].answer)]
    assert not wrong, "\n\n".join(wrong)


def test_api_page_has_an_example_of_every_kind_of_call() -> None:
    commands = [command for group, _ in examples() for command in group]
    assert len(commands) >= 20
    assert any("-X DELETE" in command for command in commands)


def test_every_answer_on_the_api_page_is_below_a_call_or_is_checked_elsewhere() -> None:
    blocks = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    shown = [answer for _, answer in examples() if answer != ANYTHING]
    elsewhere = [block for block in blocks if json.loads(block) not in shown]
    names = [next(iter(json.loads(block))) for block in elsewhere]
    assert names == [
        *("items", "lane", "looked_from", "items", "actor", "source", "source", "status"),
        *("redriven", "items", "matched", "type"),
    ]


@pytest.mark.parametrize(
    ("start", "model"),
    [
        ('{"actor"', "Me"),
        ('{\n  "items": [\n    {"id"', "StuckList"),
        ('{\n  "items": [\n    {"name"', "HandlerList"),
        ('{\n  "items": [\n    {"fingerprint"', "DeadGroups"),
    ],
)
def test_answer_about_the_system_has_the_documented_fields(start: str, model: str) -> None:
    [block] = [b for b in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL) if b.startswith(start)]

    assert wrong_in({"$ref": f"#/components/schemas/{model}"}, json.loads(block)) == []


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", page_without_deployed(), re.S))
def test_python_of_the_api_page_runs(
    live: Any, front: Any, block: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUETIME_URL", front.url)
    exec(block, {"__name__": "the_page"})
    [made] = json.loads(live("list", "--json").stdout)["items"]
    assert made["target"]["handler"] == "duetime.hello"


def test_difference_between_page_and_answer_is_found() -> None:
    assert differences({"a": 1, "b": [{"c": ANYTHING}]}, {"a": 1, "b": [{"c": 2}], "d": 3}) == []
    assert differences({"a": 1}, {"a": 2}) == ["answer.a is 2, not 1"]
    assert differences({"a": {"b": 1}}, {"a": {}}) == ["answer.a.b is missing"]
    assert differences({"a": []}, {"a": [1]}) == ["answer.a is [1], not []"]
