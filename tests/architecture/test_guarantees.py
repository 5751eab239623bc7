"""docs/guarantees.md says nothing that is not there: tests, files, numbers, faults, mutants."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from tests.simulation.faults import Faults
from tests.simulation.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guarantees.md"

TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILE = re.compile(r"`((?:lambdas|duetime|tests|bench|docs|scripts|examples|\.ci)/[\w./-]*)")
LINK = re.compile(r"\]\(([^)#]+)")
LESSON = re.compile(r"^\| (\d+) \|", re.MULTILINE)
NUMBER = re.compile(r"\| ([^|]+) \| `((?:\w+\.)+\w+)` \|$", re.MULTILINE)
WORD = re.compile(r"`(\w+)`")

NO_FAULTS = {"lasts", "over_at"}  # they tell when the faults end

UNITS = {"s": SECOND, "min": MINUTE, "h": HOUR, "d": DAY}
NOT_IN_MILLISECONDS = {
    "duetime.core.lanes.MESSAGE_RETENTION": SECOND,
    "duetime.aws.provision.VISIBILITY": SECOND,
    "duetime.executor.worker_pool.LEASE_GUARD_INTERVAL": SECOND,
    "duetime.scanner.windows.LOOK_BACK": MINUTE,
    "duetime.local.runner.DRAIN_TIMEOUT": SECOND,
    "duetime.local.http_protocol.REQUEST_TIME": SECOND,
    "duetime.local.status_waits.MAX_WAIT": SECOND,
    "duetime.client.live_calls.REREAD": SECOND,
    "duetime.local.live_socket.DRAIN_TIME": SECOND,
    "duetime.local.stats.FLUSH_INTERVAL": SECOND,
    "duetime.client.submissions.LONGEST_RETRY_AFTER": SECOND,
    "duetime.core.task.LONGEST_TIMEOUT": SECOND,
    "duetime.aws.settings.Settings.longest_timeout": SECOND,
}


@pytest.fixture
def page() -> str:
    return PAGE.read_text()


@cache
def functions_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text()) if path.is_file() else ast.Module([], [])
    return frozenset(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def missing_tests(text: str) -> list[str]:
    named = TEST.findall(text)
    badly_named = text.count("::") - len(named)
    missing = [f"{p}::{name}" for p, name in named if name not in functions_in(ROOT / p)]
    return missing + ["not a test"] * badly_named


def missing_files(text: str) -> list[str]:
    linked = [(PAGE.parent, path) for path in LINK.findall(text)]
    named = [(ROOT, path) for path in FILE.findall(text)]
    return [path for folder, path in linked + named if not (folder / path).exists()]


def wrong_numbers(text: str) -> Iterator[tuple[str, str]]:
    for said, name in NUMBER.findall(text):
        count, _, unit = said.partition(" ")
        meant = float(count.replace(",", "")) * (UNITS[unit] if unit else 1)
        if constant(name) * NOT_IN_MILLISECONDS.get(name, 1) != meant:
            yield name, said


def constant(name: str) -> Any:
    """Of a module, or the default of a dataclass's field."""
    place, _, last = name.rpartition(".")
    owner = resolve_name(place)
    if is_dataclass(owner):
        return next(field.default for field in fields(owner) if field.name == last)
    return getattr(owner, last)


def part(text: str, start: str, end: str) -> str:
    return text.partition(start)[2].partition(end)[0]


def test_every_test_that_is_named_exists(page: str):
    assert len(TEST.findall(page)) > 100
    assert missing_tests(page) == []


def test_every_file_that_is_named_exists(page: str):
    assert len(FILE.findall(page)) > 100
    assert missing_files(page) == []


def test_every_lesson_is_answered_once_and_in_order(page: str):
    lessons = part(page, "\n## Lessons", "\n## ")

    assert [int(number) for number in LESSON.findall(lessons)] == list(range(1, 38))


def test_a_lesson_has_a_test_or_is_not_built_yet(page: str):
    rows = [row for row in page.splitlines() if LESSON.match(row)]

    assert [row for row in rows if "::" not in row and "not built yet" not in row] == []


def test_every_number_is_that_of_the_code(page: str):
    rows = [row for row in part(page, "\n## Bounds", "\n\nWhat follows").splitlines() if "`" in row]

    assert [row for row in rows if not NUMBER.search(row)] == []
    assert len(rows) > 30
    assert list(wrong_numbers(page)) == []


def test_every_fault_of_the_simulation_is_named(page: str):
    named = WORD.findall(part(page, "| fault |", "\n\n"))

    assert set(named) == {field.name for field in fields(Faults)} - NO_FAULTS


def test_every_mutant_is_named(page: str):
    named = WORD.findall(part(page, "**Mutants**", "\n\n"))

    assert sorted(named) == sorted(MUTANTS)


@pytest.mark.parametrize(
    "text",
    [
        "`tests/architecture/test_guarantees.py::test_that_is_not_there`",
        "`tests/architecture/test_gone.py::test_every_mutant_is_named`",
        "tests/architecture/test_guarantees.py::test_every_mutant_is_named",
    ],
)
def test_a_test_that_is_not_there_is_found_out(text: str):
    assert missing_tests(text)


@pytest.mark.parametrize("text", ["`duetime/core/gone.py`", "`bench/gone.py`", "[x](gone.md#y)"])
def test_a_file_that_is_not_there_is_found_out(text: str):
    assert missing_files(text)


@pytest.mark.parametrize(
    "row",
    [
        "| a lease lasts | 46 s | `duetime.core.steps.lease.LENGTH` |",
        "| a lease lasts | 45 min | `duetime.core.steps.lease.LENGTH` |",
        "| the horizon | 5 min | `duetime.core.wake_policy.WakePolicy.horizon` |",
        "| minutes | 5 | `duetime.scanner.windows.LOOK_BACK` |",
    ],
)
def test_a_wrong_number_is_found_out(row: str):
    assert list(wrong_numbers(row))
