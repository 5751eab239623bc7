"""The names of handlers, found without importing them.

The API refuses a task whose handler does not exist. Importing the handlers, as the executor does,
would load all their libraries and need their permissions and environment. So the bundler reads the
names from the source code, and the API reads them from a file.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from duetime.core.value import value
from duetime.handlers.registry import BadHandlers, HandlersNotFound

Place = tuple[Path, int]  # file, line


def read_names(file: Path) -> frozenset[str]:
    """Read names from a file with a JSON list."""
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
    """Returns every name that a file in the folder registers with `task`."""
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
    """Includes packages, which handlers may import, but like the registry not the folder's own
    `__init__` and `__main__`."""
    ignored = {folder / "__init__.py", folder / "__main__.py"}
    return [file for file in sorted(folder.rglob("*.py")) if file not in ignored]


def _registered(file: Path) -> Iterator[tuple[str, Place]]:
    tree = _parse(file)
    bound = _bound_names(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call() if bound.is_task(node.func):
                place = (file, node.lineno)
                yield _name(node, place), place
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    if bound.is_task(decorator):
                        raise _bad((file, decorator.lineno), 'a handler needs a name: @task("…")')


def _parse(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise _bad((file, error.lineno or 1), f"SyntaxError: {error.msg}") from error


@value(frozen=True, kw_only=True, slots=True)
class _BoundNames:
    """The names that a file binds to the decorator, and to the package."""

    task: frozenset[str]
    duetime: frozenset[str]

    def is_task(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.task
            case ast.Attribute(value=ast.Name(id=module), attr="task"):
                return module in self.duetime
        return False


def _bound_names(tree: ast.Module) -> _BoundNames:
    task, duetime = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="duetime", level=0, names=names):
                task |= {a.asname or "task" for a in names if a.name in ("task", "*")}
            case ast.Import(names=names):
                duetime |= {a.asname or "duetime" for a in names if _binds_duetime(a)}
    return _BoundNames(task=frozenset(task), duetime=frozenset(duetime))


def _binds_duetime(imported: ast.alias) -> bool:
    """`import duetime.client` binds `duetime`, unless it has an `as` clause."""
    inside = imported.name.startswith("duetime.") and imported.asname is None
    return inside or imported.name == "duetime"


def _name(call: ast.Call, place: Place) -> str:
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
    match given:
        case [ast.Constant(value=str(name))]:
            return name
    raise _bad(place, "the name of a handler must be a string literal, so that the API can read it")


def _bad(place: Place, reason: str) -> BadHandlers:
    file, line = place
    return BadHandlers(f"handlers: {file}:{line}: {reason}")
