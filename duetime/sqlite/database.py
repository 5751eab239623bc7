"""One SQLite file, one writer at a time, commits grouped.

A thread that wants to write leaves its action in line and waits for its turn. Whoever gets the
turn runs everything that stands in line in one transaction, so that while one commit is on its
way to the disk the next one gathers. One thread alone commits at once; many share the cost.
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
from typing import Any, Generic, TypeVar

from duetime.embedded import schema
from duetime.embedded.faults import fault_of, has_room
from duetime.embedded.files import StoreFiles
from lambdas.core.errors import DiskFull, DuetimeError, StoreLost, Unavailable
from lambdas.forks import check_process

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], T]
Translated = Callable[[sqlite3.Error], Exception]

log = logging.getLogger(__name__)

OLDEST_SQLITE = (3, 35, 0)  # UPDATE … FROM, RETURNING
GROUP_LIMIT = 64
WRITER_CACHE, READER_CACHE = 16_000, 1_000  # KB, of each connection
SLOW_COMMIT = 5.0  # seconds; one takes milliseconds
READERS_KEPT = 16  # connections that stay open between reads


class _Entry(Generic[T]):
    """One action in line, and how it came out."""

    __slots__ = ("_result", "action", "done", "error")

    def __init__(self, action: Action[T]) -> None:
        self.action = action
        self.done = False
        self._result: T | None = None
        self.error: BaseException | None = None

    def run(self, connection: sqlite3.Connection, translated: Translated) -> None:
        try:
            self._result = self.action(connection)
        except sqlite3.Error as error:
            self.error = translated(error)
        except Exception as error:  # noqa: BLE001 - it rises in the thread that asked
            self.error = error

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return self._result  # type: ignore[return-value]


class Database:
    """`path` is the file, None for a database in memory.

    `on_commit` and `on_rollback` run in the writing thread, in the order of the commits. `on_lost`
    runs once, in the thread that notices that the file is damaged, deleted or replaced; from then
    on every read and write raises StoreLost. All three must be quick, and use no database."""

    def __init__(
        self,
        path: Path | None,
        *,
        on_commit: Callable[[], None],
        on_rollback: Callable[[], None],
        on_lost: Callable[[StoreLost], None] = lambda _: None,
    ) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise DuetimeError(
                f"SQLite {sqlite3.sqlite_version} is too old; the embedded store needs 3.35"
            )
        self._path = path.absolute() if path else None  # a handler may change the folder
        self._pid = os.getpid()
        self._files: StoreFiles | None = None
        self._writer: sqlite3.Connection | None = None
        self._lost: StoreLost | None = None
        self._committing_since: float | None = None
        self.unwritten: Unavailable | None = None  # why the last write failed, if it did
        self._on_commit = on_commit
        self._on_rollback = on_rollback
        self._on_lost = on_lost
        self._line: deque[_Entry[Any]] = deque()
        self._turn = threading.Lock()
        self._closed = False
        self._idle: deque[sqlite3.Connection] = deque()  # readers that nobody uses now
        self._open()

    def write(self, action: Action[T]) -> T:
        """Run an action in a transaction; when this returns, what it wrote is on the disk."""
        self._check_usable()
        entry = _Entry(action)
        self._line.append(entry)
        with self._turn:
            while not entry.done:  # more may stand before it than one commit takes
                self._commit_line()
        return entry.outcome()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees everything committed, never what is being written. Whatever
        SQLite cannot do inside the block raises Unavailable."""
        self._check_usable()
        try:
            if self._path is None:  # in memory there is one connection, so a reader takes a turn
                with self._turn:
                    yield self._writing()
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
            raise Unavailable(f"a write has not come to its end for {monotonic() - since:.0f} s")
        if self._path and not has_room(self._path):
            raise DiskFull

    def close(self) -> None:
        """A lost file is left as it is: SQLite would delete what stands beside it by name, and
        that may belong to another store by now."""
        if self._lost:
            return
        with self._turn:
            self._closed = True
            for connection in (*self._idle, self._writer):
                if connection:
                    connection.close()
        if self._files:
            self._files.close()

    def _open(self) -> None:
        try:
            if self._path is None:
                schema.create(self._writing())
                return
            self._files = StoreFiles(self._path, _fill)
            schema.prepare(self._writing(), self._path)
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
        """One that is idle, or a new one. After an error it is not used again: what it was doing
        may still be open, and would show the next reader an old state."""
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._new_reader()
        kept = False
        try:
            yield reader
            kept = len(self._idle) < READERS_KEPT and not self._closed
        finally:
            if kept:
                self._idle.append(reader)
            else:
                reader.close()

    def _new_reader(self) -> sqlite3.Connection:
        reader = self._connect(READER_CACHE)
        try:
            self._check_file()
        except Unavailable:  # what it has opened may be another file
            reader.close()
            raise
        return reader

    def _translated(self, error: sqlite3.Error) -> Exception:
        return self._fault(error) or error

    def _fault(self, error: sqlite3.Error) -> Unavailable | None:
        fault = fault_of(error, self._path)
        if fault and self._files and (reason := self._files.lost()):
            fault = StoreLost(reason)
        return self._lose(fault) if isinstance(fault, StoreLost) else fault

    def _check_file(self) -> None:
        if self._files and (reason := self._files.lost()):
            raise self._lose(StoreLost(reason))

    def _check_commit(self) -> None:
        """Nothing is acknowledged that was written to a file which is not there any more."""
        self._check_file()
        if self._files and (reason := self._files.log_lost()):
            raise self._lose(StoreLost(reason))

    def _lose(self, error: StoreLost) -> StoreLost:
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

    def _commit_line(self) -> None:
        entries = [self._line.popleft() for _ in range(min(len(self._line), GROUP_LIMIT))]
        failure: Unavailable | None = Unavailable("the write was interrupted")
        self._committing_since = monotonic()
        try:
            self._check_usable()  # it may have been lost while they stood in line
            self._run(entries)
            failure = None
        except Unavailable as error:
            failure = error
        except sqlite3.Error as error:  # the commit itself failed: nobody's write stands
            failure = self._fault(error) or Unavailable(str(error))
        finally:
            self._committing_since = None
            for entry in entries:
                if failure:
                    entry.fail(failure)
                entry.done = True
            self._note_faults([entry.error for entry in entries])
            if failure:
                self._roll_back()

    def _note_faults(self, errors: list[BaseException | None]) -> None:
        """Logged when it begins and when it is over, not at every write in between."""
        fault = next((error for error in errors if isinstance(error, Unavailable)), None)
        if fault and not self.unwritten:
            log.error("store not written: %s", fault, extra={"path": str(self._path)})
        elif self.unwritten and not fault:
            log.warning("store written again", extra={"path": str(self._path)})
        self.unwritten = fault

    def _run(self, entries: list[_Entry[Any]]) -> None:
        writer = self._writing()
        writer.execute("BEGIN IMMEDIATE")
        for entry in entries:
            entry.run(writer, self._translated)
            if entry.error is not None:
                # Start over without it: the rest must neither suffer nor see its half.
                self._roll_back()
                self._check_usable()
                if rest := [e for e in entries if e.error is None]:
                    self._run(rest)
                return
        writer.execute("COMMIT")
        self._check_commit()
        self._on_commit()

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
            self._writer = None  # the next write opens another

    def _writing(self) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = self._connect()
            if self._files:
                self._files.forget_log()
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
            connection.execute(f"PRAGMA cache_size = -{cache}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _address(path: Path) -> str:
    """A file that is not there is not made: an empty store in its place would be a wrong answer."""
    return f"{path.as_uri()}?mode=rw"


def _fill(path: Path) -> None:
    with closing(sqlite3.connect(_address(path), uri=True, isolation_level=None)) as connection:
        schema.create(connection)
