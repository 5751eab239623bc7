"""Every `duetime …` of every page is a command that exists, with options that it takes."""

import shlex
from functools import cache
from typing import Any

import pytest
import typer.main

from duetime.cli import app
from tests.docs.page import DOCS, blocks, commands

PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


@cache
def command_line() -> Any:
    return typer.main.get_command(app)


def parse(words: list[str]) -> None:
    """Parses a command as the shell would pass it."""
    command = command_line()
    while hasattr(command, "commands") and not words[0].startswith("-"):
        name, *words = words
        assert name in command.commands, f"there is no command {name}"
        command = command.commands[name]
    if "--help" not in words:
        command.make_context("duetime", words)


def typed(page: str) -> list[list[str]]:
    """Returns the words of each command of a page, without a redirection or a pipe."""
    found = []
    for block in blocks(page):
        for line in commands(block.text) if block.language == "sh" else ():
            words = shlex.split(line.removeprefix(".venv/bin/"), comments=True)
            end = min((words.index(mark) for mark in (">", "|") if mark in words), default=None)
            found.append(words[:end])
    return [words[1:] for words in found if words[:1] == ["duetime"]]


@pytest.mark.parametrize("page", [page for page in PAGES if typed(page)])
def test_commands_of_a_page_can_be_parsed(page: str) -> None:
    for words in typed(page):
        parse(words)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("dlq lits", "no command lits"),
        ("submit --nope 1", "No such option"),
        ("list --limit many", "valid integer"),
        ("schedules create --every", "requires an argument"),
    ],
)
def test_command_that_does_not_exist_is_found(line: str, reason: str) -> None:
    with pytest.raises(Exception, match=reason):
        parse(line.split())
