"""One SQLite file, one writer at a time, commits grouped.

A thread that wants to write leaves its action in line and waits for its turn. Whoever gets the
turn runs everything that stands in line in one transaction, so that while one commit is on its
way to the disk the next one gathers. One thread alone commits at once; many share the cost.
"""

import fcntl
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TextIO, TypeVar

from lambdas.core.errors import DataInUse, DuetimeError, Unavailable

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], T]

log = logging.getLogger(__name__)

FORMAT = 2  # of the rows; a store in a newer one is refused, not misread
OLDEST_SQLITE = (3, 35, 0)  # UPDATE … FROM, RETURNING
GROUP_LIMIT = 64
WRITER_CACHE, READER_CACHE = 16_000, 1_000  # KB; every thread that reads has its own

SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    schedule_id TEXT,
    spec TEXT,
    status TEXT NOT NULL,
    token TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    wake_bucket TEXT,
    wake_key TEXT,
    updated_at INTEGER NOT NULL,
    budget INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    lease_until INTEGER,
    holder TEXT,
    current TEXT,
    previous TEXT,
    cancel_requested INTEGER NOT NULL,
    sends INTEGER NOT NULL,
    skips INTEGER NOT NULL,
    progress TEXT,
    reason TEXT,
    result TEXT
);
CREATE INDEX IF NOT EXISTS wakes ON tasks (wake_bucket, wake_key) WHERE wake_bucket IS NOT NULL;
CREATE INDEX IF NOT EXISTS listing ON tasks (namespace, id);
CREATE INDEX IF NOT EXISTS dead ON tasks (updated_at, id) WHERE status = 'DEAD';
CREATE INDEX IF NOT EXISTS occurrences ON tasks (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS bodies (
    task_id TEXT, part TEXT, body TEXT NOT NULL, PRIMARY KEY (task_id, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS attempts (
    task_id TEXT, number INTEGER, attempt TEXT NOT NULL, PRIMARY KEY (task_id, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (
    namespace TEXT, key TEXT, task_id TEXT NOT NULL, body_hash TEXT NOT NULL,
    expires_at INTEGER NOT NULL, PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS schedules (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    plan TEXT NOT NULL,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    next_at INTEGER,
    wake_bucket TEXT,
    wake_key TEXT,
    state TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS schedule_wakes ON schedules (wake_bucket, wake_key)
    WHERE wake_bucket IS NOT NULL;
CREATE INDEX IF NOT EXISTS schedule_listing ON schedules (namespace, id);
CREATE TABLE IF NOT EXISTS ledger (
    schedule_id TEXT, key TEXT, version INTEGER NOT NULL, entry TEXT NOT NULL,
    kept_until INTEGER NOT NULL, PRIMARY KEY (schedule_id, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ledger_ends ON ledger (kept_until);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# From the format before; each leaves the rows as they were.
MIGRATIONS = {
    1: """
ALTER TABLE tasks ADD COLUMN schedule_id TEXT;
ALTER TABLE tasks ADD COLUMN reason TEXT;
""",
}


class _Entry(Generic[T]):
    """One action in line, and how it came out."""

    __slots__ = ("_error", "_result", "action", "done")

    def __init__(self, action: Action[T]) -> None:
        self.action = action
        self.done = False
        self._result: T | None = None
        self._error: BaseException | None = None

    def run(self, connection: sqlite3.Connection) -> None:
        try:
            self._result = self.action(connection)
        except sqlite3.OperationalError as error:  # no room, no disk: nobody's fault in here
            self._error = Unavailable(str(error))
        except Exception as error:  # noqa: BLE001 - it rises in the thread that asked
            self._error = error

    def fail(self, error: BaseException) -> None:
        self._error = self._error or error

    @property
    def failed(self) -> bool:
        return self._error is not None

    def outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]


class Database:
    """`on_commit` and `on_rollback` run in the writing thread, in the order of the commits."""

    def __init__(
        self, path: Path | None, *, on_commit: Callable[[], None], on_rollback: Callable[[], None]
    ) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise DuetimeError(
                f"SQLite {sqlite3.sqlite_version} is too old; the embedded store needs 3.35"
            )
        self._path = path
        self._held = _hold(path) if path else None
        try:
            self._writer = self._connect()
            _prepare(self._writer)
        except (sqlite3.Error, DuetimeError) as error:
            if self._held:
                self._held.close()
            raise DuetimeError(f"{path} cannot be used: {error}") from error
        self._on_commit = on_commit
        self._on_rollback = on_rollback
        self._line: deque[_Entry[Any]] = deque()
        self._turn = threading.Lock()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []

    def write(self, action: Action[T]) -> T:
        """Run an action in a transaction; when this returns, what it wrote is on the disk."""
        entry = _Entry(action)
        self._line.append(entry)
        with self._turn:
            while not entry.done:  # more may stand before it than one commit takes
                self._commit_line()
        return entry.outcome()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees everything committed, never what is being written."""
        if self._path is None:  # in memory there is one connection, so a reader takes a turn
            with self._turn:
                yield self._writer
            return
        reader = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = self._connect(READER_CACHE)
            self._readers.append(reader)
        yield reader

    def close(self) -> None:
        with self._turn:
            for connection in (*self._readers, self._writer):
                connection.close()
        if self._held:
            self._held.close()

    def _commit_line(self) -> None:
        entries = [self._line.popleft() for _ in range(min(len(self._line), GROUP_LIMIT))]
        try:
            self._run(entries)
        except BaseException as error:  # the commit itself failed: nobody's write stands
            for entry in entries:  # first, so that nothing below can leave one without
                entry.fail(Unavailable(str(error)))
            self._roll_back()
            if not isinstance(error, sqlite3.Error):
                raise
        finally:
            for entry in entries:
                entry.done = True

    def _run(self, entries: list[_Entry[Any]]) -> None:
        self._writer.execute("BEGIN IMMEDIATE")
        for entry in entries:
            entry.run(self._writer)
            if entry.failed:
                # Start over without it: the rest must neither suffer nor see its half.
                self._roll_back()
                return self._run([e for e in entries if not e.failed])
        self._writer.execute("COMMIT")
        self._on_commit()
        return None

    def _roll_back(self) -> None:
        self._on_rollback()
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
        except sqlite3.Error as error:
            if self._path is None:
                raise
            log.critical("a new connection is needed: %s", error)
            self._writer.close()
            self._writer = self._connect()

    def _connect(self, cache: int = WRITER_CACHE) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path or ":memory:",
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            timeout=30,
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.execute(f"PRAGMA cache_size = -{cache}")
        return connection


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, or see that they become those this version writes."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    [tables] = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if not tables:
        version = FORMAT
    while version in MIGRATIONS:
        _migrate(connection, version)
        version += 1
    if version != FORMAT:
        raise DuetimeError(f"it is in format {version}, and this version of Duetime is {FORMAT}")
    connection.executescript(SCHEMA)
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    """All of it, or nothing: a runner may be killed while it starts."""
    script = f"BEGIN IMMEDIATE; {MIGRATIONS[version]} PRAGMA user_version = {version + 1}; COMMIT"
    try:
        connection.executescript(script)
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _hold(path: Path) -> TextIO:
    """Keep every other runner off this file, for as long as this one lives. What it holds is
    its owner's business: payloads and headers."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = path.with_suffix(".held").open("w")
    except OSError as error:
        raise DuetimeError(f"{path.parent} cannot be used: {error.strerror}") from error
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()
        raise DataInUse(str(path.parent)) from None
    return held
