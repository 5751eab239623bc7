"""SQLite's errors, told apart: worth trying again, no room, or a damaged file."""

import shutil
import sqlite3
from pathlib import Path

from lambdas.core.errors import DiskFull, StoreLost, Unavailable

ROOM = 64 * 1024  # bytes; with less, an I/O error is the disk's
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
REMEDY = "put a backup in its place, or delete it to begin with an empty store"
PERHAPS_FULL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def fault_of(error: sqlite3.Error, path: Path | None) -> Unavailable | None:
    """None for an error that only a mistake in the code can cause."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the extended part
    if code in DAMAGED:
        return StoreLost(damaged(path, error))
    if code == sqlite3.SQLITE_FULL or (code in PERHAPS_FULL and path and not has_room(path)):
        return DiskFull()
    return Unavailable(str(error)) if isinstance(error, sqlite3.OperationalError) else None


def damaged(path: Path | None, error: sqlite3.Error) -> str:
    return (
        f"{path} is damaged ({error}): put a backup in its place, or save what can still be read"
        f" with `sqlite3 {path} .recover | sqlite3 saved.db`"
    )


def has_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free >= ROOM
    except OSError:
        return True
