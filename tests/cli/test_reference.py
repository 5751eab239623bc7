"""The reference pages of the command line and of Python name everything that there is."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

import duetime
from duetime.cli import app
from duetime.cli.exit_codes import MEANINGS
from duetime.client.system import System
from duetime.handlers.options import TaskOptions

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
CLI = (REFERENCE / "cli.md").read_text()
PYTHON = (REFERENCE / "python.md").read_text()


def commands(command: Any, name: str) -> Iterator[str]:
    subcommands = getattr(command, "commands", None)
    if subcommands is None or command.invoke_without_command:
        yield name
    for word, sub in (subcommands or {}).items():
        yield from commands(sub, f"{name} {word}")


def test_cli_page_has_every_command() -> None:
    documented = re.findall(r"^\| `(duetime [a-z -]+)` \|", CLI, re.MULTILINE)

    assert sorted(documented) == sorted(commands(typer.main.get_command(app), "duetime"))


def test_cli_page_has_every_exit_code() -> None:
    documented = re.findall(r"^\| (\d+) \| ", CLI, re.MULTILINE)

    assert [int(code) for code in documented] == [int(code) for code in MEANINGS]


def test_python_page_has_every_public_name() -> None:
    tables = [PYTHON.partition(head)[2].partition("\n\n")[0] for head in ("| name |", "| error |")]
    lines = [line for table in tables for line in table.splitlines()]
    first_cells = " ".join(line.split(" | ")[0] for line in lines)

    assert set(re.findall(r"`(\w+)`", first_cells)) == set(duetime.__all__)


def test_python_page_has_every_option_of_a_submission() -> None:
    [row] = re.findall(r"^\| `options\(.*", PYTHON, re.MULTILINE)

    assert set(TaskOptions.__annotations__) <= set(re.findall(r"`(\w+)`", row))


def test_python_page_has_every_method_of_the_client() -> None:
    names = {*vars(duetime.Client), *vars(System)}
    methods = {name for name in names if not name.startswith("_")} - {"close", "url"}

    assert {name for name in methods if f"`{name}(" not in PYTHON} == set()
