"""One SQLite file with one writer at a time and group commit.

A thread that writes adds its action to a queue and waits for the write lock. The thread that
gets the lock runs every queued action in one transaction, with those that are queued meanwhile, so
the next group gathers while one commit is on its way to the disk. A single thread commits
immediately; many share the cost.

A write that another one repeats if it is lost need not be durable. Its commit does not wait for the
disk; it becomes durable with the next commit that does. The log of SQLite is written in order, so a
power cut loses no write without those that came after it.
"""

import logging
import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from duetime.core.errors import DiskFull, DuetimeError, StoreLost, Unavailable
from duetime.duration_counts import DurationCounts
from duetime.forks import check_process
from duetime.sqlite import schema
from duetime.sqlite.errors import fault_of, has_room
from duetime.sqlite.files import StoreFiles
from duetime.sqlite.queued_write import Action, QueuedWrite, T

log = logging.getLogger(__name__)

OLDEST_SQLITE = (3, 35, 0)  # UPDATE … FROM, RETURNING
GROUP_LIMIT = 64
WRITER_CACHE, READER_CACHE = 16_000, 1_000  # KB, of each connection
SLOW_COMMIT = 5.0  # seconds; a commit normally takes milliseconds
MAX_IDLE_READERS = 16  # connections that stay open between reads


class Database:
    """`path` is the file, or None for a database in memory.

    `on_commit` and `on_rollback` run in the writing thread, in the order of the commits. `on_lost`
    runs once, in the thread that notices that the file is damaged, deleted or replaced; from then
    on every read and write raises StoreLost. All three must be quick and must not use the
    database."""

    def __init__(
        self,
        path: Path | None,
        *,
        on_commit: Callable[[], None],
        on_rollback: Callable[[], None],
        on_lost: Callable[[StoreLost], None] = lambda _: None,
    ) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise DuetimeError(f"SQLite {sqlite3.sqlite_version} is too old; Duetime needs 3.35")
        self._path = path.absolute() if path else None  # a handler may change the working directory
        self._pid = os.getpid()
        self._files: StoreFiles | None = None
        self._writer: sqlite3.Connection | None = None
        self._writer_waits = True  # for the disk, at every commit
        self._lost: StoreLost | None = None
        self._committing_since: float | None = None
        self.commit_times = DurationCounts()
        self.write_fault: Unavailable | None = None  # why the last write failed, or None
        self._on_commit = on_commit
        self._on_rollback = on_rollback
        self._on_lost = on_lost
        self._queue: deque[QueuedWrite[Any]] = deque()
        self._write_lock = threading.Lock()
        self._closed = False
        self._idle: deque[sqlite3.Connection] = deque()  # readers not in use
        self._open()

    def write(self, action: Action[T], *, durable: bool = True) -> T:
        """Run an action in a transaction. When this returns, its writes are on the disk; those of
        an action that is not durable are seen by every reader, and survive the process."""
        return self.queue(action, durable=durable)()

    def queue(self, action: Action[T], *, durable: bool = True) -> Callable[[], T]:
        """Queue an action for the next commit. Returns what waits for it, and commits if no other
        write has done that: it is to be called soon."""
        self._check_usable()
        entry = QueuedWrite(action, durable)
        self._queue.append(entry)
        return lambda: self._finish(entry)

    def _finish(self, entry: QueuedWrite[T]) -> T:
        if not entry.done:
            with self._write_lock:
                while not entry.done:  # more may be queued before it than one commit takes
                    self._commit_queue()
        return entry.outcome()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yields a connection that sees everything committed and nothing uncommitted. An error of
        SQLite inside the block raises Unavailable."""
        self._check_usable()
        try:
            if self._path is None:  # in memory: readers share the one connection
                with self._write_lock:
                    yield self._get_writer()
            else:
                with self._reader() as reader:
                    yield reader
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def check(self) -> None:
        """Raise Unavailable if the file is lost, its disk has no room, or a write hangs."""
        self._check_usable()
        self._check_file()
        since = self._committing_since
        if since is not None and monotonic() - since > SLOW_COMMIT:
            raise Unavailable(f"a write has been running for {monotonic() - since:.0f} s")
        if self._path and not has_room(self._path):
            raise DiskFull

    def close(self) -> None:
        """Close the connections and release the locks. A lost store stays open: closing it would
        make SQLite delete the `-wal` and `-shm` files by name, which may belong to another store
        by now."""
        if self._lost:
            return
        with self._write_lock:
            self._closed = True
            for connection in (*self._idle, self._writer):
                if connection:
                    connection.close()
        if self._files:
            self._files.close()

    def _open(self) -> None:
        try:
            if self._path is None:
                schema.create(self._get_writer())
                return
            self._files = StoreFiles(self._path, _create)
            schema.prepare(self._get_writer(), self._path)
            self._check_file()
        except sqlite3.Error as error:
            self.close()
            fault = fault_of(error, self._path) or error
            known = isinstance(fault, StoreLost)
            raise DuetimeError(
                str(fault) if known else f"{self._path} cannot be used: {fault}"
            ) from error
        except DuetimeError:
            self.close()
            raise

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """Yields an idle connection, or a new one. A connection is closed after an error: its
        statement may still be open, and would show the next reader an old state."""
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._new_reader()
        kept = False
        try:
            yield reader
            kept = len(self._idle) < MAX_IDLE_READERS and not self._closed
        finally:
            if kept:
                self._idle.append(reader)
            else:
                reader.close()

    def _new_reader(self) -> sqlite3.Connection:
        reader = self._connect(READER_CACHE)
        try:
            self._check_file()
        except Unavailable:  # the connection may have opened another file
            reader.close()
            raise
        return reader

    def _translated(self, error: sqlite3.Error) -> Exception:
        return self._fault(error) or error

    def _fault(self, error: sqlite3.Error) -> Unavailable | None:
        fault = fault_of(error, self._path)
        if fault and self._files and (reason := self._files.loss()):
            fault = StoreLost(reason)
        return self._mark_lost(fault) if isinstance(fault, StoreLost) else fault

    def _check_file(self) -> None:
        if self._files and (reason := self._files.loss()):
            raise self._mark_lost(StoreLost(reason))

    def _check_commit(self) -> None:
        """Raise StoreLost if the commit went to a file that has been deleted or replaced."""
        self._check_file()
        if self._files and (reason := self._files.wal_loss()):
            raise self._mark_lost(StoreLost(reason))

    def _mark_lost(self, error: StoreLost) -> StoreLost:
        if self._lost is None:
            self._lost = error
            self._on_lost(error)
        return self._lost

    def _check_usable(self) -> None:
        check_process(self._pid)
        if self._lost:
            raise self._lost
        if self._closed:
            raise Unavailable("the store is closed")

    def _commit_queue(self) -> None:
        entries: list[QueuedWrite[Any]] = []
        self._take_queued(entries)
        failure: Unavailable | None = Unavailable("the write was interrupted")
        self._committing_since = since = monotonic()
        try:
            self._check_usable()  # the store may have been lost meanwhile
            self._run(entries)
            failure = None
            self.commit_times.add(monotonic() - since)
        except Unavailable as error:
            failure = error
        except sqlite3.Error as error:  # the commit itself failed: no write of the group is stored
            failure = self._fault(error) or Unavailable(str(error))
        finally:
            self._committing_since = None
            for entry in entries:
                if failure:
                    entry.fail(failure)
                entry.done = True
            self._log_faults([entry.error for entry in entries])
            if failure:
                self._roll_back()

    def _log_faults(self, errors: list[BaseException | None]) -> None:
        """Log the first failed write and the first that succeeds again, not those in between."""
        fault = next((error for error in errors if isinstance(error, Unavailable)), None)
        if fault and not self.write_fault:
            log.error("store not written: %s", fault, extra={"path": str(self._path)})
        elif self.write_fault and not fault:
            log.warning("store recovered", extra={"path": str(self._path)})
        self.write_fault = fault

    def _take_queued(self, entries: list[QueuedWrite[Any]], waits: bool = True) -> None:
        """Adds what is queued to a group. One that does not wait for the disk takes nothing that
        does."""
        while self._queue and len(entries) < GROUP_LIMIT and (waits or not self._queue[0].durable):
            entries.append(self._queue.popleft())

    def _run(self, entries: list[QueuedWrite[Any]]) -> None:
        """Commits a group, and what is queued while its actions run."""
        writer = self._get_writer()
        waits = any(entry.durable for entry in entries)
        self._wait_for_disk(writer, waits)
        while any(entry.error is None for entry in entries):
            writer.execute("BEGIN IMMEDIATE")
            if self._run_each(writer, entries, waits):
                writer.execute("COMMIT")
                self._check_commit()
                self._on_commit()
                return
            # Start over without the one that failed: the others must neither fail nor see half of
            # it.
            self._roll_back()
            self._check_usable()

    def _run_each(
        self, writer: sqlite3.Connection, entries: list[QueuedWrite[Any]], waits: bool
    ) -> bool:
        """Returns False if an action has failed."""
        for entry in entries:  # which grows meanwhile
            if entry.error is None:
                entry.run(writer, self._translated)
                if entry.error is not None:
                    return False
            if entry is entries[-1]:
                self._take_queued(entries, waits)
        return True

    def _wait_for_disk(self, writer: sqlite3.Connection, waits: bool) -> None:
        """Set whether the next commit waits for the disk."""
        if waits is not self._writer_waits:
            writer.execute(f"PRAGMA synchronous = {'FULL' if waits else 'NORMAL'}")
            self._writer_waits = waits

    def _roll_back(self) -> None:
        self._on_rollback()
        if self._writer is None:
            return
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error as error:
            if self._path is None:
                raise
            log.error("writer connection closed: %s", error, extra={"path": str(self._path)})
            self._writer.close()
            self._writer = None  # the next write opens a new one

    def _get_writer(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self._connect()
            self._writer_waits = True
            if self._files:
                self._files.reset_wal()
        return self._writer

    def _connect(self, cache: int = WRITER_CACHE) -> sqlite3.Connection:
        connection = sqlite3.connect(
            _address(self._path) if self._path else ":memory:",
            uri=self._path is not None,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            timeout=30,
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_autocheckpoint = 4000")
            # The journals of statements that update many rows; in files they cost a sixth.
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA cache_size = -{cache}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _address(path: Path) -> str:
    """`mode=rw` does not create a missing file: an empty store in its place would hide the loss."""
    return f"{path.as_uri()}?mode=rw"


def _create(path: Path) -> None:
    with closing(sqlite3.connect(_address(path), uri=True, isolation_level=None)) as connection:
        schema.create(connection)
