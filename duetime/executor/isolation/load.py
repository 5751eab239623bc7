"""How a child process finds its handlers: by the module and the name."""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from duetime.executor.targets import TargetFailed
from duetime.handlers import registry
from duetime.handlers.handler import Handler


def restore_paths(path: Sequence[str], python_path: str | None) -> None:
    """Sets both as they are in the executor, which gave the child its own PYTHONPATH."""
    sys.path[:] = path
    os.environ.pop("PYTHONPATH", None)
    if python_path is not None:
        os.environ["PYTHONPATH"] = python_path


def find_handler(module: str, name: str) -> Handler[..., Any]:
    """Imports the module of a handler, if that was not done before. Raises TargetFailed."""
    handler = registry.find(name)
    if handler is not None and handler.__module__ == module:
        return handler
    try:
        importlib.import_module(module)
    except ImportError as error:
        reason = f"{module!r} cannot be imported in a child: {error}"
        raise TargetFailed("UnknownHandler", reason) from None
    handler = registry.find(name)
    if handler is None or handler.__module__ != module:
        reason = f"{module!r} registers no handler {name!r} in a child"
        raise TargetFailed("UnknownHandler", reason)
    return handler
