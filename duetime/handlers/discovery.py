"""The names of handlers, for those who must not import them.

The API refuses a task for a handler that nobody has. To import handlers for that, as the executor
does, would cost it the start of all their libraries, their permissions and their environment. So
whoever bundles the API reads the names from the source, and the API reads them from a file.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from lambdas.core.values import value
from lambdas.registry import BadHandlers, HandlersNotFound

Place = tuple[Path, int]  # file, line


def read_names(file: Path) -> frozenset[str]:
    """From a JSON list."""
    if not file.is_file():
        raise HandlersNotFound(f"handlers: there is no file '{file}'")
    try:
        names = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadHandlers(f"handlers: {file}: {error}") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadHandlers(f"handlers: {file} is not a list of names")
    return frozenset(names)


def names_in(folder: Path) -> list[str]:
    """Every name that a file of the folder registers with `task`, found without running it."""
    if not folder.is_dir():
        raise HandlersNotFound(f"handlers: there is no folder '{folder}'")
    found: dict[str, Place] = {}
    for file in _files(folder):
        for name, place in _registered(file):
            if name in found:
                first, line = found[name]
                raise _bad(place, f"handler {name!r} is registered at {first}:{line} already")
            found[name] = place
    if not found:
        raise BadHandlers(f"handlers: {folder} registers no handler")
    return sorted(found)


def _files(folder: Path) -> list[Path]:
    """Packages too, which handlers may import; but like the registry, not the folder's own
    `__init__` and `__main__`."""
    passed_over = {folder / "__init__.py", folder / "__main__.py"}
    return [file for file in sorted(folder.rglob("*.py")) if file not in passed_over]


def _registered(file: Path) -> Iterator[tuple[str, Place]]:
    tree = _parsed(file)
    called = _called(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call() if called.is_task(node.func):
                place = (file, node.lineno)
                yield _name(node, place), place
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    if called.is_task(decorator):
                        raise _bad((file, decorator.lineno), 'a handler needs a name: @task("…")')


def _parsed(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise _bad((file, error.lineno or 1), f"SyntaxError: {error.msg}") from error


@value(frozen=True, kw_only=True, slots=True)
class _Called:
    """What a file calls the decorator, and the module that it is in."""

    task: frozenset[str]
    duetime: frozenset[str]

    def is_task(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.task
            case ast.Attribute(value=ast.Name(id=module), attr="task"):
                return module in self.duetime
        return False


def _called(tree: ast.Module) -> _Called:
    task, duetime = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="duetime", level=0, names=names):
                task |= {a.asname or "task" for a in names if a.name in ("task", "*")}
            case ast.Import(names=names):
                duetime |= {a.asname or "duetime" for a in names if _binds_duetime(a)}
    return _Called(task=frozenset(task), duetime=frozenset(duetime))


def _binds_duetime(imported: ast.alias) -> bool:
    """`import duetime.client` binds `duetime`, unless it gives the client a name of its own."""
    inside = imported.name.startswith("duetime.") and imported.asname is None
    return inside or imported.name == "duetime"


def _name(call: ast.Call, place: Place) -> str:
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
    match given:
        case [ast.Constant(value=str(name))]:
            return name
    raise _bad(place, "the name of a handler must be a plain string, so that the API can know it")


def _bad(place: Place, reason: str) -> BadHandlers:
    file, line = place
    return BadHandlers(f"handlers: {file}:{line}: {reason}")
