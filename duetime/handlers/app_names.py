"""The name of the app that handlers belong to: the owner of the schedules that they declare."""

import re
import tomllib
from pathlib import Path
from typing import Any

from duetime.handlers.registry import BadHandlers

PROJECT = "pyproject.toml"
MAX_LENGTH = 128
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._:-]+")


def app_name(source: str | Path) -> str:
    """Returns the name of the app of a folder, a file or a module of handlers.

    The nearest pyproject.toml, in the folder that holds the handlers or above it, decides: its
    `[tool.duetime] app`, or else the name of the project. Without one, it is the name of the folder
    that holds the handlers."""
    path = Path(source)
    start = path.absolute().parent if path.exists() else Path.cwd()
    for folder in (start, *start.parents):
        project = folder / PROJECT
        if project.is_file() and (name := _named_in(project)):
            return _word(name)
    return _word(start.name or "app")


def _named_in(project: Path) -> str | None:
    try:
        found: dict[str, Any] = tomllib.loads(project.read_text())
    except (OSError, ValueError) as error:
        raise BadHandlers(f"handlers: {project}: {error}") from error
    app = found.get("tool", {}).get("duetime", {}).get("app")
    if app is not None and (not isinstance(app, str) or _word(app) != app):
        rule = f"1 to {MAX_LENGTH} letters, digits and ._:-"
        raise BadHandlers(f"handlers: {project}: tool.duetime.app must be {rule}")
    name = app or found.get("project", {}).get("name")
    return name if isinstance(name, str) else None


def _word(name: str) -> str:
    return _NOT_IN_A_NAME.sub("-", name)[:MAX_LENGTH] or "app"
