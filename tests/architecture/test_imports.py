"""Imports point one way and form no cycle, and the core reads nothing but its arguments.

Every module is parsed, not imported, so that an import inside a function counts too.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OURS = ("lambdas", "duetime", "infra")
ROLES = ("api", "scanner", "executor", "relay", "websocket")

CORE = "duetime.core"
ENGINE = "duetime.engine"
HANDLERS = "duetime.handlers"
SUBMITTING = tuple(f"{HANDLERS}.{name}" for name in ("submission", "children", "options"))
AWS = "duetime.aws"
SQLITE = "duetime.sqlite"
FREE = (
    "duetime.version",
    "duetime.forks",
    "duetime.supervised_threads",
    "duetime.duration_counts",
    "duetime.logs",
    "duetime.tracing",
)  # for every module but the core
WORKER = (CORE, ENGINE, HANDLERS, "duetime.executor", "duetime.worker", *FREE)
WIRED = ("duetime.aws.backend", "duetime.aws.settings")  # the backend as the functions use it
BOTO = ("boto3", "botocore", "mypy_boto3_*")
SIGNING = "duetime.client.signing"  # calls no AWS: it signs requests to a deployed API


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    tree: ast.Module
    package: bool = False

    def imports(self, *, on_import: bool = False) -> Iterator[str]:
        """Yields everything imported, by its full name: `from duetime.core import ids` is
        `duetime.core.ids`. With `on_import`, only what is imported with the module itself."""
        for node in _run_on_import(self.tree) if on_import else ast.walk(self.tree):
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


def _run_on_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes that run when a module is imported: not those inside a function, nor those
    for the type checker alone."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                for other in orelse:
                    yield other
                    yield from _run_on_import(other)
            case _:
                yield node
                yield from _run_on_import(node)


def _called(node: ast.Call) -> str | None:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


@cache
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
    """Whether a name matches a pattern: `duetime.core` matches itself and its submodules."""
    return any(fnmatchcase(name, p) or fnmatchcase(name, f"{p}.*") for p in patterns)


# Which of our own modules a module may import: the first pattern that fits it decides.
OURS_BY_MODULE: list[tuple[str, tuple[str, ...]]] = [
    (CORE, (CORE,)),
    ("duetime.version", ()),
    ("duetime.forks", (CORE,)),
    ("duetime.supervised_threads", (CORE,)),
    ("duetime.duration_counts", (CORE,)),
    ("duetime.logs", (CORE, *FREE)),
    ("duetime.tracing", (CORE, *FREE)),
    (ENGINE, (CORE, ENGINE, *FREE)),
    *((name, (CORE, HANDLERS, "duetime.client", *FREE)) for name in SUBMITTING),
    (HANDLERS, (CORE, HANDLERS, *FREE)),
    *((name, (CORE, AWS, f"{ENGINE}.clock", *FREE)) for name in WIRED),
    (AWS, (CORE, AWS)),
    (SQLITE, (CORE, SQLITE, *FREE)),
    *((f"duetime.{role}", (CORE, ENGINE, HANDLERS, f"duetime.{role}", *FREE)) for role in ROLES),
    *(
        (
            f"lambdas.{role}",
            (CORE, ENGINE, HANDLERS, f"duetime.{role}", f"{AWS}.event_records", *WIRED, *FREE),
        )
        for role in ROLES
    ),
    ("lambdas", ()),
    ("duetime.worker.aws_worker", (*WORKER, AWS)),
    ("duetime.worker", WORKER),
    ("duetime", ("duetime",)),
]

# Which modules may import a library; one that is not named here is free to all but core and aws.
MODULES_BY_LIBRARY: list[tuple[str, tuple[str, ...]]] = [
    ("botocore", (AWS, SIGNING)),
    *((library, (AWS,)) for library in BOTO),
    *(
        (library, ("duetime.api", "duetime.cli", "duetime.local", f"{HANDLERS}.conversion"))
        for library in ("pydantic", "pydantic_core")
    ),
    ("aws_lambda_powertools", ("lambdas",)),
    ("moto", ("duetime.local.moto*",)),
    ("croniter", (f"{CORE}.recurrence",)),
    ("opentelemetry", ("duetime.tracing.otel",)),
]

# What else than the standard library these may use, besides the table above.
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


def find_cycle(modules: list[Module]) -> list[str]:
    """Returns the names of modules that import each other in a circle, the first one twice; empty
    if there is no cycle."""
    names = {module.name for module in modules}
    imported = {m.name: sorted(_modules_imported(m, names)) for m in modules}
    checked: set[str] = set()
    for name in imported:
        if cycle := _cycle_from(name, imported, [], checked):
            return cycle
    return []


def _modules_imported(module: Module, names: set[str]) -> Iterator[str]:
    """Yields the modules that hold what a module imports: `duetime.core.ids.new_id` is in
    `duetime.core.ids`."""
    for imported in module.imports(on_import=True):
        parts = imported.split(".")
        prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        found = next((prefix for prefix in prefixes if prefix in names), module.name)
        if found != module.name:
            yield found


def _cycle_from(
    name: str, imported: dict[str, list[str]], path: list[str], checked: set[str]
) -> list[str]:
    if name in path:
        return [*path[path.index(name) :], name]
    if name in checked:
        return []
    for other in imported[name]:
        if cycle := _cycle_from(other, imported, [*path, name], checked):
            return cycle
    checked.add(name)
    return []


def impurities(module: Module) -> list[str]:
    found = [name for name in module.imports() if fits(name, OUT_OF_REACH_OF_THE_CORE)]
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(attr=name) if name in CLOCK_READINGS:
                found.append(ast.unparse(node))
            case ast.Call(func=ast.Name(id=name)) if name in SURROUNDINGS:
                found.append(name)
    return found


def test_imports_point_one_way():
    modules = modules_under("lambdas", "duetime")
    assert {m.name: found for m in modules if (found := forbidden_imports(m))} == {}


def test_the_core_reads_no_clock_no_chance_and_no_surroundings():
    modules = modules_under("duetime/core")
    assert {m.name: found for m in modules if (found := impurities(m))} == {}


def test_no_modules_import_each_other_in_a_circle():
    assert find_cycle(modules_under("lambdas", "duetime")) == []


def test_nothing_that_is_deployed_or_installed_imports_infra():
    texts = {
        path: path.read_text()
        for folder in ("lambdas", "duetime", "examples", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    naming = [read(path) for path, text in texts.items() if "infra" in text]
    importing = {m.name for m in naming if any(fits(i, ("infra",)) for i in m.imports())}

    assert "tests.infra.conftest" in importing
    assert {name for name in importing if not fits(name, ("tests.infra",))} == set()


# The rules themselves: what they must let through, and what they must catch.


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("duetime.core.wakes", "from zlib import crc32\nfrom duetime.core import times"),
        ("duetime.core.recurrence", "import croniter"),
        ("duetime.aws.clients", "import boto3\nfrom botocore.config import Config"),
        ("duetime.aws.clients", "from mypy_boto3_sqs import SQSClient"),
        ("duetime.scanner.tick", "from duetime.engine.enqueue import enqueue"),
        ("duetime.scanner.tick", "from duetime.scanner import order"),
        ("lambdas.scanner", "from duetime.aws import backend, settings"),
        ("lambdas.executor", "from duetime.aws.event_records import messages"),
        ("lambdas.executor", "from aws_lambda_powertools import Logger"),
        ("duetime.executor.targets.http", "import urllib3"),
        ("duetime.api.tasks", "from pydantic import BaseModel"),
        ("duetime.aws.backend", "from duetime.aws.task_store import DynamoTaskStore"),
        ("duetime.client.signing", "from botocore.auth import SigV4Auth"),
        ("duetime.local.moto", "from moto import mock_aws"),
        ("duetime.local.runner", "from duetime.scanner.tick import tick\nimport uvicorn"),
    ],
)
def test_what_may_be_imported(importer, source):
    assert forbidden_imports(a_module(importer, source)) == []


@pytest.mark.parametrize(
    ("importer", "source", "caught"),
    [
        ("duetime.core.wakes", "import croniter", "croniter"),
        ("duetime.core.wakes", "import pydantic", "pydantic"),
        ("duetime.core.wakes", "from duetime.aws import schema", "duetime.aws.schema"),
        ("duetime.core.wakes", "from duetime.engine import enqueue", "duetime.engine.enqueue"),
        ("duetime.core.steps.lease", "from ...aws import schema", "duetime.aws.schema"),
        ("duetime.core.wakes", "def f():\n    import boto3", "boto3"),
        ("duetime.core.wakes", "import_module('boto3')", "boto3"),
        ("duetime.aws.task_items", "import requests", "requests"),
        ("duetime.aws.task_items", "from duetime.engine import clock", "duetime.engine.clock"),
        ("duetime.sqlite.task_rows", "from duetime.aws import schema", "duetime.aws.schema"),
        ("duetime.handlers.context", "import duetime.executor.runs", "duetime.executor.runs"),
        ("duetime.aws.task_items", "from duetime.scanner import tick", "duetime.scanner.tick"),
        ("duetime.scanner.tick", "import boto3", "boto3"),
        ("duetime.scanner.tick", "from botocore.exceptions import E", "botocore.exceptions.E"),
        ("duetime.scanner.tick", "from duetime.aws import schema", "duetime.aws.schema"),
        ("duetime.scanner.tick", "import duetime.executor.run", "duetime.executor.run"),
        ("duetime.scanner.tick", "from duetime.aws import backend", "duetime.aws.backend"),
        ("duetime.scanner.tick", "from pydantic import BaseModel", "pydantic.BaseModel"),
        ("duetime.scanner.tick", "import aws_lambda_powertools", "aws_lambda_powertools"),
        ("lambdas.scanner", "import boto3", "boto3"),
        ("lambdas.scanner", "from duetime.aws import schema", "duetime.aws.schema"),
        ("lambdas.scanner", "from lambdas.relay import handle", "lambdas.relay.handle"),
        ("duetime.engine.enqueue", "from duetime.aws import schema", "duetime.aws.schema"),
        ("duetime.engine.enqueue", "from duetime.scanner import tick", "duetime.scanner.tick"),
        ("duetime.aws.backend", "import duetime.local", "duetime.local"),
        ("duetime.client.signing", "import boto3", "boto3"),
        ("duetime.client.transport", "import botocore.auth", "botocore.auth"),
        ("duetime.worker.worker", "from duetime.local import asgi", "duetime.local.asgi"),
        ("duetime.worker.worker", "from duetime.aws import schema", "duetime.aws.schema"),
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
    assert impurities(a_module("duetime.core.wakes", source))


def test_relative_imports_are_followed_home():
    inside = a_module("duetime.core.steps.lease", "from . import record\nfrom ..ids import new_id")
    package = a_module("duetime.core.steps", "from . import record", package=True)

    assert list(inside.imports()) == ["duetime.core.steps.record", "duetime.core.ids.new_id"]
    assert list(package.imports()) == ["duetime.core.steps.record"]


TO_B, TO_C = "from duetime.b import name", "import duetime.c"


@pytest.mark.parametrize(
    ("a", "b", "c", "cycle"),
    [
        (TO_B, "import duetime.a", "", ["a", "b", "a"]),
        (TO_B, TO_C, "from duetime import a", ["a", "b", "c", "a"]),
        (TO_B, "if VERSION > 1:\n    import duetime.a", "", ["a", "b", "a"]),
        (TO_B, "class Lane:\n    from duetime.a import lanes", "", ["a", "b", "a"]),
        (TO_B, TO_C, "from duetime.b import name", ["b", "c", "b"]),
        (TO_B, "", TO_B, []),
        (TO_B, "def f():\n    import duetime.a", "", []),
        (TO_B, "if TYPE_CHECKING:\n    import duetime.a", "", []),
    ],
)
def test_cycles_among_imports_are_found(a, b, c, cycle):
    modules = [
        a_module(f"duetime.{name}", text) for name, text in zip("abc", (a, b, c), strict=True)
    ]

    assert find_cycle(modules) == [f"duetime.{name}" for name in cycle]


def test_package_that_imports_a_module_which_imports_the_package_is_a_cycle():
    package = a_module("duetime.client", "from duetime.client.http import Http", package=True)
    module = a_module("duetime.client.http", "from duetime.client import Client")

    assert find_cycle([package, module]) == [package.name, module.name, package.name]
