"""The registry of Python handlers by name."""

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from duetime.core.errors import DuetimeError
from duetime.core.value import value

Handler = Callable[[Any, Any], Any]  # (payload, ctx)
H = TypeVar("H", bound=Callable[..., Any])

IMPORT_MACHINERY = (__file__, str(Path(importlib.util.__file__).parent), "<frozen")


@value(frozen=True, kw_only=True, slots=True)
class Registered:
    name: str
    run: Handler
    isolated: bool = False  # runs in a child process


_handlers: dict[str, Handler] = {}
_isolated: set[str] = set()
_replacement: ContextVar[tuple[dict[str, Handler], set[str]] | None] = ContextVar(
    "replacement", default=None
)
_lock = Lock()  # `find` sees both tables before a replacement, or both after it


class HandlersNotFound(DuetimeError):
    """Raised for a module, file or folder of handlers that does not exist."""


class BadHandlers(DuetimeError):
    """Raised for handlers that exist but cannot be imported."""


def task(name: str, *, isolated: bool = False) -> Callable[[H], H]:
    """Register a function as a handler. It is called with `(payload, ctx)` and may be `async`.

    Its return value is the result of the task: JSON, or a value that can become JSON. An exception
    fails the attempt, and the task is retried unless it is a PermanentError.

    Args:
        name: The name that tasks use, such as `shop.restock`.
        isolated: Run the handler in a process of its own, which can be killed at any point."""

    if not isinstance(name, str):
        raise TypeError('a handler needs a name: @task("shop.restock")')

    def register(handler: H) -> H:
        _check_parameters(name, handler)
        handlers, alone = _tables()
        known = handlers.get(name)
        if known is not None and _origin(known) != _origin(handler):
            raise ValueError(
                f"handler {name!r} is registered twice: {_origin(known)} and {_origin(handler)}"
            )
        handlers[name] = handler
        (alone.add if isolated else alone.discard)(name)
        return handler

    return register


def _check_parameters(name: str, handler: Callable[..., Any]) -> None:
    try:
        inspect.signature(handler).bind(None, None)
    except TypeError:
        raise TypeError(f"handler {name!r} must take (payload, ctx)") from None


def find(name: str) -> Registered | None:
    with _lock:
        handler, isolated = _handlers.get(name), name in _isolated
    return Registered(name=name, run=handler, isolated=isolated) if handler else None


def names() -> frozenset[str]:
    return frozenset(_tables()[0])


def _tables() -> tuple[dict[str, Handler], set[str]]:
    return _replacement.get() or (_handlers, _isolated)


@contextmanager
def replacing(modules: Container[str]) -> Iterator[None]:
    """Replaces the handlers of these modules by those that this thread registers in the block.

    Until the end of the block, and for ever if it raises, `find` returns what was there before."""
    global _handlers, _isolated
    kept = {n: h for n, h in _handlers.items() if h.__module__ not in modules}
    tables = (kept, {name for name in _isolated if name in kept})
    token = _replacement.set(tables)
    try:
        yield
    finally:
        _replacement.reset(token)
    with _lock:
        _handlers, _isolated = tables


def load(source: str) -> frozenset[str]:
    """Import handlers from a module (`shop.handlers`), a file or a folder of files. Returns the
    names that this has registered."""
    before = names()
    try:
        _import(source)
    except (HandlersNotFound, BadHandlers):
        raise
    except (Exception, SystemExit) as error:
        raise BadHandlers(f"handlers: {source}: {_describe(error)}") from error
    return names() - before


def _import(source: str) -> None:
    path = Path(source)
    if not source.strip():
        raise HandlersNotFound("handlers: no folder, file or module is named")
    if path.is_dir():
        for file in sorted(path.glob("*.py")):
            _import_file(file)
    elif path.suffix == ".py" and path.exists():
        _import_file(path)
    elif path.exists():
        raise BadHandlers(f"handlers: {source} is not a .py file")
    else:
        _import_module(source)


def _import_file(file: Path) -> None:
    if file.stem in ("__init__", "__main__"):
        return
    folder = str(file.parent.resolve())
    if folder not in sys.path:
        # At the end of the path: handlers can import each other, but shadow no installed module.
        sys.path.append(folder)
    importlib.invalidate_caches()
    spec = importlib.util.find_spec(file.stem)
    found = spec.origin if spec else None
    if found is None or Path(found).resolve() != file.resolve():
        raise BadHandlers(
            f"handlers: {file}: {file.stem!r} is the name of another module"
            f" ({found or 'a package'}); rename the file"
        )
    importlib.import_module(file.stem)


def _import_module(name: str) -> None:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not _is_module(name):
        raise HandlersNotFound(f"handlers: there is no folder, file or module {name!r}")
    importlib.import_module(name)


def _is_module(name: str) -> bool:
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if f"{name}.".startswith(f"{error.name}."):  # a parent package is missing
            return False
        raise


def _describe(error: BaseException) -> str:
    """Returns place, type and message on one line."""
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    words = " ".join(f"{type(error).__name__}: {message}".split())
    return f"{place}: {words}" if (place := _place(error)) else words


def _place(error: BaseException) -> str | None:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(IMPORT_MACHINERY)]
    return f"{theirs[-1].filename}:{theirs[-1].lineno}" if theirs else None


def _origin(handler: Callable[..., Any]) -> str:
    return f"{handler.__module__}.{handler.__qualname__}"
