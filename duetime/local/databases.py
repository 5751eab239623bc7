"""The databases that `sql` tasks may use on one machine, as `--database` names them."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from duetime.executor.targets.sql import Database
from duetime.extras import NotInstalled

_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql", "postgres")


def check_database(name: str, url: str) -> None:
    """Raises ValueError for a name or a URL that cannot be used; never with the password in it."""
    if not _NAME.fullmatch(name) or not url:
        raise ValueError("must be NAME=URL, for example main=sqlite:///app.db")
    if (
        not (url.startswith(_SQLITE) and len(url) > len(_SQLITE))
        and _scheme(url) not in _POSTGRESQL
    ):
        raise ValueError(f"{name!r} is not a sqlite:///FILE or a postgresql:// URL")


def open_database(url: str) -> Database:
    """Connects to nothing yet: each attempt opens a connection of its own."""
    if url.startswith(_SQLITE):
        from duetime.executor.targets.sqlite_database import SqliteDatabase

        return SqliteDatabase(Path(unquote(url.removeprefix(_SQLITE))).absolute())
    try:
        from duetime.executor.targets.postgresql_database import PostgresqlDatabase
    except ImportError as error:
        raise NotInstalled(
            f"What --database postgresql:// needs ({error})", "postgresql"
        ) from error
    return PostgresqlDatabase(url)


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
