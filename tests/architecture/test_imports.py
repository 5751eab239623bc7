"""Imports point one way, and the core touches nothing but its arguments.

Every module is parsed, not imported, so that an import inside a function counts too.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("lambdas", "duetime", "infra")
ROLES = ("api", "scanner", "executor", "relay", "websocket")
WIRED = ("lambdas.settings", "lambdas.wiring")  # for handlers, which begin with them

CORE = "lambdas.core"
AWS = "lambdas.aws"
BOTO = ("boto3", "botocore", "mypy_boto3_*")
SIGNING = "duetime.client.signing"  # calls no AWS: it signs what is asked of a deployed API


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    tree: ast.Module
    package: bool = False

    def imports(self) -> Iterator[str]:
        """Everything imported, by its full name: `from lambdas.core import ids` is
        `lambdas.core.ids`."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(node)
                yield from (f"{base}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Call) and _called(node) in ("import_module", "__import__"):
                yield from (a.value for a in node.args if isinstance(a, ast.Constant))

    def _base(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        up = node.level - self.package
        home = self.name.split(".")[: -up or None]
        return ".".join([*home, *([node.module] if node.module else [])])


def _called(node: ast.Call) -> str | None:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def read(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if package else parts)
    return Module(name, ast.parse(path.read_text()), package)


def modules_under(*folders: str) -> list[Module]:
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return [read(path) for path in sorted(paths)]


def a_module(name: str, source: str, *, package: bool = False) -> Module:
    return Module(name, ast.parse(source), package)


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    """`lambdas.core` stands for itself and for all that is in it."""
    return any(fnmatchcase(name, p) or fnmatchcase(name, f"{p}.*") for p in patterns)


def shared() -> tuple[str, ...]:
    """The modules directly under lambdas/ that every role may use, such as lambdas.enqueue."""
    names = (f"lambdas.{path.stem}" for path in sorted((ROOT / "lambdas").glob("[a-z]*.py")))
    return tuple(name for name in names if name not in WIRED)


# Who may import which of our own modules: the first pattern that fits a module decides.
OURS_BY_MODULE: list[tuple[str, tuple[str, ...]]] = [
    (CORE, (CORE,)),
    (AWS, (CORE, AWS)),
    *(
        (f"lambdas.{role}.handler", (CORE, f"lambdas.{role}", *shared(), *WIRED, f"{AWS}.*event*"))
        for role in ROLES
    ),
    *((f"lambdas.{role}", (CORE, f"lambdas.{role}", *shared())) for role in ROLES),
    ("lambdas.settings", (CORE,)),
    ("lambdas.wiring", (CORE, AWS, "lambdas.settings", *shared())),
    ("lambdas", (CORE, *shared())),
    ("duetime", ("lambdas", "duetime")),
]

# Who may import a library; one that is not named here is free to all but the core and aws.
MODULES_BY_LIBRARY: list[tuple[str, tuple[str, ...]]] = [
    ("botocore", (AWS, SIGNING)),
    *((library, (AWS,)) for library in BOTO),
    ("pydantic", ("lambdas.api", "duetime")),
    ("pydantic_core", ("lambdas.api", "duetime")),
    ("aws_lambda_powertools", tuple(f"lambdas.{role}.handler" for role in ROLES)),
    ("moto", ("duetime.local.moto*",)),
    ("croniter", (f"{CORE}.recurrence",)),
]

# What else than the standard library these may use, whatever the table above leaves open.
LIBRARIES_BY_MODULE: list[tuple[str, tuple[str, ...]]] = [
    (CORE, ("croniter",)),
    (AWS, BOTO),
]

# The core takes time, chance and surroundings as arguments.
OUT_OF_REACH_OF_THE_CORE = (
    *("time", "random", "secrets", "uuid"),
    *("os", "sys", "io", "pathlib", "socket", "subprocess", "logging"),
    *("asyncio", "threading", "multiprocessing", "concurrent"),
)
CLOCK_READINGS = ("now", "utcnow", "today")
SURROUNDINGS = ("open", "print", "input")


def forbidden_imports(module: Module) -> list[str]:
    return [name for name in module.imports() if not may_import(module.name, name)]


def may_import(importer: str, imported: str) -> bool:
    top = imported.partition(".")[0]
    if top in sys.stdlib_module_names:
        return True
    if top in OURS:
        return fits(imported, _first_fit(importer, OURS_BY_MODULE) or ())
    strict = _first_fit(importer, LIBRARIES_BY_MODULE)
    if strict is not None and not fits(imported, strict):
        return False
    allowed = _first_fit(imported, MODULES_BY_LIBRARY)
    return allowed is None or fits(importer, allowed)


def _first_fit(name: str, table: list[tuple[str, tuple[str, ...]]]) -> tuple[str, ...] | None:
    return next((values for pattern, values in table if fits(name, (pattern,))), None)


def impurities(module: Module) -> list[str]:
    found = [name for name in module.imports() if fits(name, OUT_OF_REACH_OF_THE_CORE)]
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(attr=name) if name in CLOCK_READINGS:
                found.append(ast.unparse(node))
            case ast.Call(func=ast.Name(id=name)) if name in SURROUNDINGS:
                found.append(name)
    return found


def named(modules: list[Module]) -> list:
    return [pytest.param(module, id=module.name) for module in modules]


@pytest.mark.parametrize("module", named(modules_under("lambdas", "duetime")))
def test_imports_point_one_way(module):
    assert forbidden_imports(module) == []


@pytest.mark.parametrize("module", named(modules_under("lambdas/core")))
def test_the_core_reads_no_clock_no_chance_and_no_surroundings(module):
    assert impurities(module) == []


def test_nothing_that_is_deployed_or_installed_imports_infra():
    folders = ("lambdas", "duetime", "examples", "tests")
    importing = {
        m.name for m in modules_under(*folders) if any(fits(i, ("infra",)) for i in m.imports())
    }

    assert {name for name in importing if not fits(name, ("tests.infra",))} == set()


# The rules themselves: what they must let through, and what they must catch.


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("lambdas.core.wakes", "from zlib import crc32\nfrom lambdas.core import times"),
        ("lambdas.core.recurrence", "import croniter"),
        ("lambdas.aws.clients", "import boto3\nfrom botocore.config import Config"),
        ("lambdas.aws.clients", "from mypy_boto3_sqs import SQSClient"),
        ("lambdas.scanner.tick", "from lambdas.enqueue import enqueue"),
        ("lambdas.scanner.tick", "from lambdas.scanner import order"),
        ("lambdas.scanner.handler", "from lambdas import settings, wiring"),
        ("lambdas.executor.handler", "from lambdas.aws.events import messages"),
        ("lambdas.executor.handler", "from aws_lambda_powertools import Logger"),
        ("lambdas.executor.targets.http", "import urllib3"),
        ("lambdas.api.tasks", "from pydantic import BaseModel"),
        ("lambdas.wiring", "from lambdas.aws.task_store import DynamoTaskStore"),
        ("duetime.client.signing", "from botocore.auth import SigV4Auth"),
        ("duetime.local.moto", "from moto import mock_aws"),
        ("duetime.local.runner", "from lambdas.scanner.tick import tick\nimport uvicorn"),
    ],
)
def test_what_may_be_imported(importer, source):
    assert forbidden_imports(a_module(importer, source)) == []


@pytest.mark.parametrize(
    ("importer", "source", "caught"),
    [
        ("lambdas.core.wakes", "import croniter", "croniter"),
        ("lambdas.core.wakes", "import pydantic", "pydantic"),
        ("lambdas.core.wakes", "from lambdas.aws import schema", "lambdas.aws.schema"),
        ("lambdas.core.wakes", "from lambdas import enqueue", "lambdas.enqueue"),
        ("lambdas.core.steps.lease", "from ...aws import schema", "lambdas.aws.schema"),
        ("lambdas.core.wakes", "def f():\n    import boto3", "boto3"),
        ("lambdas.core.wakes", "import_module('boto3')", "boto3"),
        ("lambdas.aws.items", "import requests", "requests"),
        ("lambdas.aws.items", "import lambdas.settings", "lambdas.settings"),
        ("lambdas.aws.items", "from lambdas.scanner import tick", "lambdas.scanner.tick"),
        ("lambdas.scanner.tick", "import boto3", "boto3"),
        ("lambdas.scanner.tick", "from botocore.exceptions import E", "botocore.exceptions.E"),
        ("lambdas.scanner.tick", "from lambdas.aws import schema", "lambdas.aws.schema"),
        ("lambdas.scanner.tick", "import lambdas.executor.run", "lambdas.executor.run"),
        ("lambdas.scanner.tick", "from lambdas import wiring", "lambdas.wiring"),
        ("lambdas.scanner.tick", "from pydantic import BaseModel", "pydantic.BaseModel"),
        ("lambdas.scanner.tick", "import aws_lambda_powertools", "aws_lambda_powertools"),
        ("lambdas.scanner.handler", "import boto3", "boto3"),
        ("lambdas.scanner.handler", "from lambdas.aws import schema", "lambdas.aws.schema"),
        ("lambdas.scanner.handler", "from lambdas.relay import pay", "lambdas.relay.pay"),
        ("lambdas.enqueue", "from lambdas.aws import schema", "lambdas.aws.schema"),
        ("lambdas.enqueue", "from lambdas.scanner import tick", "lambdas.scanner.tick"),
        ("lambdas.wiring", "import boto3", "boto3"),
        ("lambdas.wiring", "import duetime.local", "duetime.local"),
        ("duetime.client.signing", "import boto3", "boto3"),
        ("duetime.client.wire", "import botocore.auth", "botocore.auth"),
        ("duetime.local.runner", "import boto3", "boto3"),
        ("duetime.local.runner", "import moto", "moto"),
        ("duetime.local.runner", "from infra import stack", "infra.stack"),
    ],
)
def test_what_may_not_be_imported(importer, source, caught):
    assert forbidden_imports(a_module(importer, source)) == [caught]


@pytest.mark.parametrize(
    "source",
    [
        "datetime.now(UTC)",
        "datetime.utcnow()",
        "date.today()",
        "read = datetime.now",
        "import time",
        "from time import time",
        "import random",
        "from os import environ",
        "import os.path",
        "from uuid import uuid4",
        "print('hello')",
        "open('x')",
    ],
)
def test_what_the_core_may_not_do(source):
    assert impurities(a_module("lambdas.core.wakes", source))


def test_relative_imports_are_followed_home():
    inside = a_module("lambdas.core.steps.lease", "from . import record\nfrom ..ids import new_id")
    package = a_module("lambdas.core.steps", "from . import record", package=True)

    assert list(inside.imports()) == ["lambdas.core.steps.record", "lambdas.core.ids.new_id"]
    assert list(package.imports()) == ["lambdas.core.steps.record"]
