"""The registry of Python handlers by name."""

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from duetime.core.errors import DuetimeError
from duetime.handlers.defaults import Defaults, read_defaults
from duetime.handlers.handler import CallableHandler, Delay, Handler, Register

if TYPE_CHECKING:
    from duetime.handlers.options import LimitUseFields, Priority, RetryFields
    from duetime.handlers.schedules import DeclaredSchedule

OURS = str(Path(__file__).parent)
STANDARD_LIBRARY = Path(importlib.util.__file__).parents[1]
IMPORT_MACHINERY = (OURS, str(STANDARD_LIBRARY / "importlib"), "<frozen")
LIBRARIES = (STANDARD_LIBRARY, Path(OURS).parent)
INSTALLED = {"site-packages", "dist-packages"}

Handlers = dict[str, Handler[..., Any]]

_handlers: Handlers = {}
_replacement: ContextVar[Handlers | None] = ContextVar("replacement", default=None)


class HandlersNotFound(DuetimeError):
    """Raised for a module, file or folder of handlers that does not exist."""


class BadHandlers(DuetimeError):
    """Raised for handlers that exist but cannot be imported."""


def task(
    name: str,
    *,
    isolated: bool | Literal["fresh"] = False,
    priority: "Priority | None" = None,
    pool: str | None = None,
    retry: "RetryFields | None" = None,
    timeout: Delay | None = None,
    tags: Mapping[str, str] | None = None,
    limits: "Sequence[LimitUseFields] | None" = None,
    fairness_key: str | None = None,
    schedule: "DeclaredSchedule | Sequence[DeclaredSchedule] | None" = None,
) -> Register:
    """Registers a function as a handler, plain or `async`, and returns the handler.

    The function takes `(payload, ctx)`; `(ctx, *, a, b)`, where a and b are members of the payload;
    or `(a, b)`, and calls `duetime.context()` if it needs its context. Values are converted to the
    types of its annotations.

    Its return value is the result of the task: JSON, or a value that can become JSON. An exception
    fails the attempt, and the task is retried unless it is a PermanentError.

    Args:
        name: The name that tasks use, such as `shop.restock`.
        isolated: Run the handler in a process of its own, which can be killed at any point, and is
            used again for later attempts; "fresh" for a new process for each attempt.
        priority: The lane of its tasks, unless the caller gives another.
        pool: The pool whose workers run them, unless the caller gives another.
        retry: Fields of their retry policy, such as `{"max_attempts": 3}`.
        timeout: How long an attempt may take: seconds, or text such as "5m".
        tags: Tags that its tasks have beside those of the caller.
        limits: The limits that they are under, such as `[{"name": "stripe"}]`.
        fairness_key: Tasks with different keys take turns within a lane.
        schedule: When it runs by itself: `cron(…)`, `every(…)`, `after(…)`, or a list of them.

    A deployment reads these arguments from the source, so they must be literals."""

    if not isinstance(name, str):
        raise TypeError('a handler needs a name: @task("shop.restock")')
    if isolated not in (True, False, "fresh"):
        raise ValueError(f'handler {name!r}: isolated is True, False or "fresh"')
    given = {
        "priority": priority,
        "pool": pool,
        "retry": retry,
        "timeout": timeout,
        "tags": tags,
        "limits": limits,
        "fairness_key": fairness_key,
    }
    try:
        defaults = read_defaults(given)
        schedules = _schedules(schedule)
    except ValueError as error:
        raise ValueError(f"handler {name!r}: {error}") from None
    return Register(partial(_register, name, isolated, defaults, schedules))


def _schedules(given: Any) -> "tuple[DeclaredSchedule, ...]":
    if given is None:
        return ()
    from duetime.handlers.schedules import as_schedules

    return as_schedules(given)


def _register(
    name: str,
    isolated: bool | Literal["fresh"],
    defaults: Defaults,
    schedules: "tuple[DeclaredSchedule, ...]",
    function: Callable[..., Any],
) -> Handler[..., Any]:
    function = function._function if isinstance(function, Handler) else function
    handler: Handler[..., Any] = CallableHandler(
        function, name, isolated=isolated, defaults=defaults, schedules=schedules
    )
    handlers = _registering()
    known = handlers.get(name)
    if known is not None and _origin(known) != _origin(handler):
        both = " and ".join(f"{_origin(one)}{_defined_at(one)}" for one in (known, handler))
        raise ValueError(f"handler {name!r} is registered twice: {both}")
    handlers[name] = handler
    return handler


def find(name: str) -> Handler[..., Any] | None:
    return _handlers.get(name)


def handlers() -> Mapping[str, Handler[..., Any]]:
    """Returns every handler by name."""
    return _handlers


def defaults() -> Mapping[str, Defaults]:
    """Returns the name of every handler, with the defaults of its tasks."""
    return {name: handler.defaults for name, handler in _handlers.items()}


def names() -> frozenset[str]:
    return frozenset(_registering())


def _registering() -> Handlers:
    replacement = _replacement.get()
    return _handlers if replacement is None else replacement


@contextmanager
def replacing(modules: Container[str]) -> Iterator[None]:
    """Replaces the handlers of these modules by those that this thread registers in the block.

    Until the end of the block, and for ever if it raises, `find` returns what was there before."""
    global _handlers  # noqa: PLW0603 - `find` sees the old table or the new one
    kept = {n: h for n, h in _handlers.items() if h.__module__ not in modules}
    token = _replacement.set(kept)
    try:
        yield
    finally:
        _replacement.reset(token)
    _handlers = kept


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
    own = [frame for frame in theirs if not _is_library(frame.filename)] or theirs
    return f"{own[-1].filename}:{own[-1].lineno}" if own else None


def _is_library(file: str) -> bool:
    path = Path(file)
    return any(map(path.is_relative_to, LIBRARIES)) or not INSTALLED.isdisjoint(path.parts)


def _origin(handler: Handler[..., Any]) -> str:
    return f"{handler.__module__}.{handler.qualname}"


def _defined_at(handler: Handler[..., Any]) -> str:
    """Returns nothing for a callable that is not a function."""
    code = getattr(inspect.unwrap(handler._function), "__code__", None)
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
