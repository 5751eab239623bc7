"""Handlers and their schedules, found without importing them.

Importing the handlers, as the executor does, would load all their libraries and need their
permissions and environment. So names, defaults and schedules are read from the source code, and
must be literals there: see duetime.handlers.manifest.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duetime.core.errors import BadPayload
from duetime.core.value import value
from duetime.handlers.annotations import Function, first_line, is_typed
from duetime.handlers.bound_names import BoundNames, bound_names
from duetime.handlers.defaults import NAMES, Defaults, read_defaults
from duetime.handlers.registry import BadHandlers, HandlersNotFound
from duetime.handlers.rule_check import check_rule
from duetime.handlers.schedules import DeclaredSchedule, after, as_schedules, cron, every
from duetime.handlers.signatures import check_payload, payload_schema

Place = tuple[Path, int]  # file, line

DECLARING: Mapping[str, Callable[..., DeclaredSchedule]] = {
    "cron": cron,
    "every": every,
    "after": after,
}
NOT_LITERAL = (ValueError, TypeError, SyntaxError, MemoryError, RecursionError)
LITERAL = "must be a literal, so that the API can read it"


@value(frozen=True, kw_only=True, slots=True)
class Discovered:
    """A handler as its source describes it."""

    name: str
    defaults: Defaults
    place: Place
    typed: bool  # whether an annotation may need pydantic
    schedules: tuple[tuple[DeclaredSchedule, Place], ...] = ()
    doc: str | None = None  # the first line
    payload_schema: Any = None  # JSON Schema, as far as the source tells it


def handlers_in(folder: Path, *, allow_empty: bool = False) -> list[Discovered]:
    """Returns every handler that a file in the folder registers with `task`, sorted by name.

    It reads the files of the folder, the packages in it, and other folders in it that one of these
    files imports: what a runner may load."""
    if not folder.is_dir():
        raise HandlersNotFound(f"handlers: there is no folder '{folder}'")
    found = handlers_of(_files(folder))
    if not found and not allow_empty:
        raise BadHandlers(f"handlers: {folder} registers no handler")
    return found


def handlers_of(files: Iterable[Path], *, scheduled: bool = False) -> list[Discovered]:
    """Returns every handler that these files register, sorted by name; with `scheduled`, only those
    with schedules, and the others need not be literals."""
    found: dict[str, Discovered] = {}
    for file in files:
        for one in _registered(file, scheduled):
            if one.name in found:
                first, line = found[one.name].place
                reason = f"handler {one.name!r} is registered at {first}:{line} already"
                raise bad_source(one.place, reason)
            found[one.name] = one
    return [found[name] for name in sorted(found)]


def bad_source(place: Place, reason: str) -> BadHandlers:
    file, line = place
    return BadHandlers(f"handlers: {file}:{line}: {reason}")


@contextmanager
def refusing_misfits(place: Place) -> Iterator[None]:
    """Turns the fault of a schedule's payload into one of its place in the source."""
    try:
        yield
    except BadPayload as error:
        field = f"payload.{error.field}" if error.field else "payload"
        raise bad_source(place, f"{field}: {error.reason}") from None
    except TypeError as error:
        raise bad_source(place, str(error)) from None


def _files(folder: Path) -> list[Path]:
    """Like the registry, leaves out the folder's own `__init__` and `__main__`."""
    ignored = {folder / "__init__.py", folder / "__main__.py"}
    waiting = [file for file in folder.glob("*.py") if file not in ignored]
    others = [path for path in folder.iterdir() if _is_importable(path)]
    names = {path.name for path in others if (path / "__init__.py").is_file()}
    found: list[Path] = []
    while waiting or names:
        found += waiting
        names |= {name for file in waiting for name in _imported(file)}
        waiting = [f for path in others if path.name in names for f in _below(path)]
        others = [path for path in others if path.name not in names]
        names = set()
    return sorted(found)


def _below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.suffix == ".py":
            yield path
        elif _is_importable(path):
            yield from _below(path)


def _is_importable(path: Path) -> bool:
    """Whether it is a folder that an `import` can name: not `.venv` or `site-packages`."""
    return path.is_dir() and path.name.isidentifier() and path.name != "__pycache__"


def _imported(file: Path) -> Iterator[str]:
    """Yields every part of the names that a file imports."""
    for node in ast.walk(_parse(file)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            for name in (module, *(alias.name for alias in node.names)):
                yield from name.split(".")


def _registered(file: Path, scheduled: bool) -> Iterator[Discovered]:
    tree = _parse(file)
    bound = bound_names(tree)
    functions: dict[ast.expr, Function] = {}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    if bound.is_task(decorator):
                        place = (file, decorator.lineno)
                        raise bad_source(place, 'a handler needs a name: @task("…")')
                    if not isinstance(node, ast.ClassDef):
                        functions[decorator] = node
            case ast.Call() if bound.is_task(node.func):
                if not scheduled or any(k.arg == "schedule" for k in node.keywords):
                    yield _discovered(node, (file, node.lineno), functions.get(node), bound)


def _discovered(
    call: ast.Call, place: Place, function: Function | None, bound: BoundNames
) -> Discovered:
    name = _name(call, place)
    if any(keyword.arg is None for keyword in call.keywords):
        raise bad_source(place, f"what ** means {LITERAL}")
    schedules = _schedules(call, place, bound)
    known = function is not None and _is_unchanged(function, call, bound)
    if function is not None and known:
        for schedule, where in schedules:
            with refusing_misfits(where):
                check_payload(name, function, bound, schedule.payload)
    return Discovered(
        name=name,
        defaults=_defaults(call, place),
        place=place,
        typed=function is None or is_typed(function),
        schedules=schedules,
        doc=first_line(ast.get_docstring(function)) if function else None,
        payload_schema=payload_schema(name, function, bound) if function and known else None,
    )


def _is_unchanged(function: Function, task: ast.Call, bound: BoundNames) -> bool:
    """Whether no other decorator may change the parameters before `task` sees the function."""
    below = function.decorator_list[function.decorator_list.index(task) + 1 :]
    return all(isinstance(one, ast.Call) and bound.is_task(one.func) for one in below)


def _defaults(call: ast.Call, place: Place) -> Defaults:
    given = {k.arg: _literal(k.arg or "", k.value, place) for k in call.keywords if k.arg in NAMES}
    try:
        return read_defaults(given)
    except ValueError as error:
        raise bad_source(place, str(error)) from None


def _literal(name: str, node: ast.expr, place: Place) -> Any:
    try:
        return ast.literal_eval(node)
    except NOT_LITERAL:
        raise bad_source((place[0], node.lineno), f"{name} {LITERAL}") from None


def _schedules(
    call: ast.Call, place: Place, bound: BoundNames
) -> tuple[tuple[DeclaredSchedule, Place], ...]:
    given = next((k.value for k in call.keywords if k.arg == "schedule"), None)
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        return ()
    nodes = given.elts if isinstance(given, ast.List | ast.Tuple) else [given]
    found = [_schedule(node, (place[0], node.lineno), bound) for node in nodes]
    try:
        as_schedules(found)
    except ValueError as error:
        raise bad_source((place[0], given.lineno), str(error)) from None
    places = [(place[0], node.lineno) for node in nodes]
    return tuple(zip(found, places, strict=True))


def _schedule(node: ast.expr, place: Place, bound: BoundNames) -> DeclaredSchedule:
    declare = DECLARING.get(bound.meaning(node.func) or "") if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or declare is None:
        reason = "schedule must be cron(…), every(…) or after(…), or a list of them"
        raise bad_source(place, reason)
    if any(keyword.arg is None for keyword in node.keywords):
        raise bad_source(place, f"what ** means {LITERAL}")
    arguments = [_literal("the argument of a schedule", given, place) for given in node.args]
    named = {str(k.arg): _literal(str(k.arg), k.value, place) for k in node.keywords}
    try:
        schedule = declare(*arguments, **named)
        check_rule(schedule)
    except (TypeError, ValueError) as error:
        raise bad_source(place, str(error)) from None
    return schedule


def _parse(file: Path) -> ast.Module:
    try:
        return ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise bad_source((file, error.lineno or 1), f"SyntaxError: {error.msg}") from error


def _name(call: ast.Call, place: Place) -> str:
    given = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "name")]
    match given:
        case [ast.Constant(value=str(name))]:
            return name
    raise bad_source(
        place, "the name of a handler must be a string literal, so that the API can read it"
    )
