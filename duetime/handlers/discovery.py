"""Handlers, found without importing them.

The API refuses a task whose handler does not exist, and fills in the defaults of those that do.
Importing the handlers, as the executor does, would load all their libraries and need their
permissions and environment. So the bundler reads names and defaults from the source code and
writes a manifest, which the API reads::

    {"handlers": {"shop.restock": {"defaults": {"priority": "low"}, "source": "shop.py:12"}}}
"""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from duetime.core.value import value
from duetime.handlers.defaults import NAMES, Defaults, read_defaults
from duetime.handlers.registry import BadHandlers, HandlersNotFound

Place = tuple[Path, int]  # file, line
JSON_TYPES = ("Any", "Context", "object", "str", "int", "float", "bool", "list", "dict")


@value(frozen=True, kw_only=True, slots=True)
class Discovered:
    """A handler as its source describes it."""

    name: str
    defaults: Defaults
    place: Place
    typed: bool  # whether an annotation may need pydantic


def read_manifest(file: Path) -> Mapping[str, Defaults]:
    """Reads the names of handlers, with their defaults, from a manifest, or from the list of names
    that earlier releases wrote."""
    if not file.is_file():
        raise HandlersNotFound(f"handlers: there is no file '{file}'")
    try:
        manifest = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadHandlers(f"handlers: {file}: {error}") from error
    match manifest:
        case list() if all(isinstance(name, str) for name in manifest):
            return {name: {} for name in manifest}
        case {"handlers": dict() as found} if all(isinstance(f, dict) for f in found.values()):
            return {name: fields.get("defaults", {}) for name, fields in found.items()}
    raise BadHandlers(f"handlers: {file} is not a manifest of handlers")


def manifest_of(found: Iterable[Discovered], folder: Path) -> dict[str, Any]:
    """Returns the manifest of handlers in a folder."""
    return {
        "handlers": {
            one.name: {"defaults": one.defaults, "source": _source(one.place, folder)}
            for one in found
        }
    }


def _source(place: Place, folder: Path) -> str:
    file, line = place
    return f"{file.relative_to(folder).as_posix()}:{line}"


def handlers_in(folder: Path) -> list[Discovered]:
    """Returns every handler that a file in the folder registers with `task`, sorted by name."""
    if not folder.is_dir():
        raise HandlersNotFound(f"handlers: there is no folder '{folder}'")
    found: dict[str, Discovered] = {}
    for file in _files(folder):
        for one in _registered(file):
            if one.name in found:
                first, line = found[one.name].place
                reason = f"handler {one.name!r} is registered at {first}:{line} already"
                raise _bad(one.place, reason)
            found[one.name] = one
    if not found:
        raise BadHandlers(f"handlers: {folder} registers no handler")
    return [found[name] for name in sorted(found)]


def _files(folder: Path) -> list[Path]:
    """Includes packages, which handlers may import, but like the registry not the folder's own
    `__init__` and `__main__`."""
    ignored = {folder / "__init__.py", folder / "__main__.py"}
    return [file for file in sorted(folder.rglob("*.py")) if file not in ignored]


def _registered(file: Path) -> Iterator[Discovered]:
    tree = _parse(file)
    bound = _bound_names(tree)
    functions: dict[ast.expr, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    if bound.is_task(decorator):
                        raise _bad((file, decorator.lineno), 'a handler needs a name: @task("…")')
                    if not isinstance(node, ast.ClassDef):
                        functions[decorator] = node
            case ast.Call() if bound.is_task(node.func):
                yield _discovered(node, (file, node.lineno), functions.get(node))


def _discovered(
    call: ast.Call, place: Place, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Discovered:
    return Discovered(
        name=_name(call, place),
        defaults=_defaults(call, place),
        place=place,
        typed=function is None or is_typed(function),
    )


def _defaults(call: ast.Call, place: Place) -> Defaults:
    given = {k.arg: _literal(k, place) for k in call.keywords if k.arg in NAMES}
    try:
        return read_defaults(given)
    except ValueError as error:
        raise _bad(place, str(error)) from None


def _literal(argument: ast.keyword, place: Place) -> Any:
    try:
        return ast.literal_eval(argument.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        file, _ = place
        reason = "must be a literal, so that the API can read it"
        raise _bad((file, argument.value.lineno), f"{argument.arg} {reason}") from None


def is_typed(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a parameter or the result has an annotation that is not of JSON's own types."""
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    annotations = [parameter.annotation for parameter in parameters if parameter]
    return not all(_is_json_type(one) for one in (*annotations, function.returns))


def _is_json_type(annotation: ast.expr | None) -> bool:
    """The same as duetime.handlers.json_types says of the annotation once it is read."""
    match annotation:
        case None | ast.Constant(value=None):
            return True
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(), attr=name):
            return name in JSON_TYPES
        case ast.Constant(value=str(text)):
            return _is_json_type(_expression(text))
    inside = _inside(annotation)
    return bool(inside) and all(_is_json_type(one) for one in inside)


def _inside(annotation: ast.expr) -> list[ast.expr]:
    """Returns the members of a union, a list or a dict with keys of text."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [left, right]
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            return [item]
        case ast.Subscript(
            value=ast.Name(id="dict"), slice=ast.Tuple(elts=[ast.Name(id="str"), item])
        ):
            return [item]
    return []


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return ast.Constant(value=...)


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
