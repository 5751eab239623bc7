"""Connections to the database of an outbox, by its URL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from duetime.core.errors import DuetimeError

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")


class DatabaseFailed(DuetimeError):
    """The database of the outbox cannot be used for now. No task is lost."""


def connector(url: str) -> Callable[[], Any]:
    """Returns a function that opens a connection. Raises ValueError, without the password."""
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        return _sqlite(Path(unquote(url.removeprefix(_SQLITE))).absolute())
    if url.startswith(_POSTGRESQL):
        return _postgresql(url)
    raise ValueError("must be a sqlite:///FILE or a postgresql:// URL")


def _sqlite(path: Path) -> Callable[[], Any]:
    import sqlite3

    if not path.is_file():
        raise ValueError(f"there is no file '{path}'")
    return lambda: sqlite3.connect(path)


def _postgresql(url: str) -> Callable[[], Any]:
    try:
        import psycopg
    except ImportError as error:
        raise ValueError(f"needs psycopg ({error}); install duetime[postgresql]") from error
    return lambda: psycopg.connect(url)


def is_database_error(error: BaseException) -> bool:
    """Every driver has an `Error` of its own; DB-API prescribes its name."""
    classes = type(error).__mro__
    return any(c.__name__ == "Error" and not c.__module__.startswith("duetime") for c in classes)
