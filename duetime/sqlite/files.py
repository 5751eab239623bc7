"""The files of one store: created, locked, private to their owner, and checked for loss.

A store is `duetime.db`, SQLite's `-wal` and `-shm` beside it, and `duetime.held`. Two locks keep a
second runner out: one on `duetime.held`, which every version of Duetime takes, and one on the
database itself, which remains if `duetime.held` is deleted.
"""

import fcntl
import logging
import os
import resource
import struct
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from duetime.core.errors import DataInUse, DuetimeError
from duetime.forks import keep_from_children
from duetime.sqlite.errors import REMEDY

OWNER_ONLY = 0o600
WAL_SUFFIXES = ("-wal", "-shm")
WHILE_RUNNING = "while Duetime ran; no write has been acknowledged since"
# A byte that SQLite does not lock and no file reaches.
LOCKED_BYTE = 1 << 62

log = logging.getLogger(__name__)

Identity = tuple[int, int]
Create = Callable[[Path], None]


class StoreFiles:
    """`create` writes a new, empty store to the given path."""

    def __init__(self, path: Path, create: Create) -> None:
        self.path = path
        self._wal = _beside(path, "-wal")
        self._wal_identity: Identity | None = None
        self._descriptors: list[int] = []
        try:
            self._open(create)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                where = error.filename or path.parent
                raise DuetimeError(f"{where} cannot be used: {error.strerror}") from error
            raise
        self._identity = _identity(os.fstat(self._descriptors[-1]))
        keep_from_children(self)

    def descriptors(self) -> list[int]:
        """Returns the descriptors that this process has open on these files, including SQLite's."""
        files = {_identity(os.fstat(descriptor)) for descriptor in self._descriptors}
        if self._wal_identity:
            files.add(self._wal_identity)
        for path in (self.path, *(_beside(self.path, suffix) for suffix in WAL_SUFFIXES)):
            with suppress(OSError):
                files.add(_identity(os.stat(path)))
        return [descriptor for descriptor in _open_descriptors() if _file_of(descriptor) in files]

    def loss(self) -> str | None:
        """Returns why a commit would be lost now; None if the database is in its place."""
        try:
            found = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return f"{self.path} was deleted or moved {WHILE_RUNNING}"
        except OSError:  # stat failed; the file may still be in its place
            return None
        if _identity(found) != self._identity:
            return f"{self.path} was replaced {WHILE_RUNNING}"
        return None if found.st_size else f"{self.path} was emptied {WHILE_RUNNING}"

    def wal_loss(self) -> str | None:
        """Returns the same for the `-wal` file, which holds the latest commits. Only the committing
        thread calls this, after a commit: while the writer is open, the file stays the same."""
        try:
            found = _identity(os.stat(self._wal))
        except FileNotFoundError:
            return f"{self._wal} was deleted {WHILE_RUNNING}"
        except OSError:
            return None
        self._wal_identity = self._wal_identity or found
        return None if found == self._wal_identity else f"{self._wal} was replaced {WHILE_RUNNING}"

    def reset_wal(self) -> None:
        """Call after a writer was closed: SQLite may have deleted the `-wal` file with it."""
        self._wal_identity = None

    def close(self) -> None:
        """Close the descriptors. SQLite must have closed its own before: a process loses all its
        POSIX locks on a file when it closes any descriptor of it."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _open(self, create: Create) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = self._descriptor(self.path.with_suffix(".held"), os.O_CREAT)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataInUse(str(self.path.parent)) from None
        if not self.path.exists():
            _make(self.path, create)
        file = self._descriptor(self.path)
        if not os.fstat(file).st_size:
            raise DuetimeError(f"{self.path} is empty: {REMEDY}")
        _lock(file, self.path)
        for suffix in WAL_SUFFIXES:
            _keep_private(_beside(self.path, suffix))

    def _descriptor(self, path: Path, flags: int = 0) -> int:
        descriptor = os.open(path, os.O_RDWR | flags, OWNER_ONLY)
        self._descriptors.append(descriptor)
        _keep_private(path)
        return descriptor


def _make(path: Path, create: Create) -> None:
    """Create the store under another name and rename it, so that a runner that is killed
    meanwhile leaves no half of a store."""
    wal = _beside(path, "-wal")
    if wal.exists() and wal.stat().st_size:  # SQLite would apply it to the new file
        raise DuetimeError(
            f"{path} is missing, and {wal.name} holds a part of its data: put {path.name} back,"
            f" or delete {wal.name} to begin with an empty store"
        )
    new = path.with_name(f"{path.name}.new")
    for leftover in (new, _beside(new, "-journal")):
        leftover.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        os.fchmod(descriptor, OWNER_ONLY)
        create(new)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    new.rename(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    """Take a lock that belongs to the open file, not to the process: a process loses its own locks
    when SQLite closes a descriptor. flock would do, but conflicts with SQLite's locks on BSD and
    macOS."""
    if sys.platform != "linux":
        return
    kind = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, LOCKED_BYTE, 1, 0)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, kind)
    except (BlockingIOError, PermissionError):
        raise DataInUse(str(path.parent)) from None
    except OSError as error:  # the file system has no such locks; the other lock protects
        log.warning("database not locked: %s", error, extra={"path": str(path)})


def _keep_private(path: Path) -> None:
    """Make a file private: it holds payloads and headers. A file of another owner cannot be
    changed, and a file system may have no modes."""
    try:
        if path.stat().st_mode & 0o777 != OWNER_ONLY:
            path.chmod(OWNER_ONLY)
    except FileNotFoundError:
        return
    except PermissionError as error:
        log.warning("file mode not changed: %s", error, extra={"path": str(path)})


def _open_descriptors() -> Iterable[int]:
    try:
        return [int(name) for name in os.listdir("/dev/fd")]
    except OSError:  # no such folder, or no free descriptor to read it
        return range(3, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _file_of(descriptor: int) -> Identity | None:
    try:
        return _identity(os.fstat(descriptor))
    except OSError:
        return None


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
