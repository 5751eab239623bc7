"""Python handlers, registered by name: the API asks which there are, the executor runs them."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from lambdas.core.errors import DuetimeError

Handler = Callable[[Any, Any], Any]  # (payload, ctx)
H = TypeVar("H", bound=Callable[..., Any])

_handlers: dict[str, Handler] = {}


class HandlersNotFound(DuetimeError):
    """A module or folder of handlers that is not there."""


def task(name: str) -> Callable[[H], H]:
    """Register a function under a name; it gets `(payload, ctx)` and may be `async`.

    What it returns is the task's result and must be JSON. What it raises fails the attempt,
    and the task is tried again unless it is a PermanentError."""

    def register(handler: H) -> H:
        standing = _handlers.get(name)
        if standing is not None and _origin(standing) != _origin(handler):
            raise ValueError(
                f"handler {name!r} is registered twice: {_origin(standing)} and {_origin(handler)}"
            )
        _handlers[name] = handler
        return handler

    return register


def find(name: str) -> Handler | None:
    return _handlers.get(name)


def names() -> frozenset[str]:
    return frozenset(_handlers)


def load(source: str) -> None:
    """Import handlers from a module name (`shop.handlers`), a file or a folder of files."""
    path = Path(source)
    if path.is_dir() or path.suffix == ".py":
        for file in _files(path):
            _import_file(file)
    else:
        _import_module(source)


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise HandlersNotFound(f"handlers: there is no {path}")
    yield from sorted(path.glob("*.py")) if path.is_dir() else [path]


def _import_file(file: Path) -> None:
    folder = str(file.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # so that handlers can import their neighbours
    if file.stem != "__init__":
        importlib.import_module(file.stem)


def _import_module(name: str) -> None:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        raise HandlersNotFound(f"handlers: {name!r} is neither a folder, a file nor a module")
    importlib.import_module(name)


def _origin(handler: Callable[..., Any]) -> str:
    return f"{handler.__module__}.{handler.__qualname__}"
