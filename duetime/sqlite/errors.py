"""SQLite's errors by cause: temporary, no room on the disk, or a damaged file."""

import shutil
import sqlite3
from pathlib import Path

from duetime.core.errors import DiskFull, StoreLost, Unavailable

MIN_FREE_BYTES = 64 * 1024  # with less, an I/O error means a full disk
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
REMEDY = "put a backup in its place, or delete it to begin with an empty store"
POSSIBLY_FULL = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def fault_of(error: sqlite3.Error, path: Path | None) -> Unavailable | None:
    """Returns None for an error that only a bug can cause."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code
    if code in DAMAGED:
        return StoreLost(damage_report(path, error))
    if code == sqlite3.SQLITE_FULL or (code in POSSIBLY_FULL and path and not has_room(path)):
        return DiskFull()
    return Unavailable(str(error)) if isinstance(error, sqlite3.OperationalError) else None


def damage_report(path: Path | None, error: sqlite3.Error) -> str:
    return (
        f"{path} is damaged ({error}): put a backup in its place, or save what can still be read"
        f" with `sqlite3 {path} .recover | sqlite3 saved.db`"
    )


def has_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free >= MIN_FREE_BYTES
    except OSError:
        return True
