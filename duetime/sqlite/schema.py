"""The tables of the SQLite store, and the migrations from earlier formats."""

import sqlite3
from pathlib import Path

from duetime.core.errors import DuetimeError
from duetime.sqlite.errors import REMEDY

FORMAT = 7  # of the file; a newer format is refused, not misread

SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    schedule_id TEXT,
    spec TEXT,
    body_hash TEXT,
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
    result TEXT,
    day INTEGER NOT NULL DEFAULT 0,
    name TEXT,
    target TEXT,
    parent_id TEXT,
    promoted TEXT,
    held INTEGER,
    grant_at INTEGER,
    suspended TEXT
);
CREATE INDEX IF NOT EXISTS wakes ON tasks (wake_bucket, wake_key) WHERE wake_bucket IS NOT NULL;
CREATE INDEX IF NOT EXISTS listing ON tasks (namespace, day, id, created_at);
CREATE INDEX IF NOT EXISTS targets ON tasks (namespace, target, day, id);
CREATE INDEX IF NOT EXISTS pending ON tasks (namespace, day, id) WHERE status = 'PENDING';
CREATE INDEX IF NOT EXISTS under_way ON tasks (namespace, day, id)
    WHERE status IN ('ENQUEUED', 'RUNNING', 'RETRYING', 'WAITING');
CREATE INDEX IF NOT EXISTS unsuccessful ON tasks (namespace, day, id)
    WHERE status IN ('DEAD', 'CANCELLED', 'EXPIRED');
CREATE INDEX IF NOT EXISTS soonest ON tasks (namespace, due_at, id)
    WHERE status IN ('PENDING', 'ENQUEUED', 'RETRYING');
CREATE INDEX IF NOT EXISTS dead ON tasks (updated_at, id) WHERE status = 'DEAD';
CREATE INDEX IF NOT EXISTS occurrences ON tasks (schedule_id, day, id)
    WHERE schedule_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS children ON tasks (parent_id, day, id) WHERE parent_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS ended ON tasks
    ((CASE WHEN namespace = '' THEN 2 ELSE schedule_id IS NOT NULL END), updated_at, id)
    WHERE status IN ('SUCCEEDED', 'CANCELLED', 'EXPIRED') AND wake_bucket IS NULL;
CREATE TABLE IF NOT EXISTS tags (
    namespace TEXT, tag TEXT, day INTEGER, id TEXT, PRIMARY KEY (namespace, tag, day, id)
) WITHOUT ROWID;
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
CREATE INDEX IF NOT EXISTS key_ends ON keys (expires_at);
CREATE TABLE IF NOT EXISTS unique_keys (
    namespace TEXT, key TEXT, task_id TEXT NOT NULL, PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unique_holders ON unique_keys (task_id);
CREATE TRIGGER IF NOT EXISTS unique_key_freed AFTER DELETE ON tasks BEGIN
    DELETE FROM unique_keys WHERE task_id = OLD.id;
END;
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
CREATE TABLE IF NOT EXISTS slots (
    line TEXT, number INTEGER, task_id TEXT NOT NULL, token TEXT NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (line, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS places (
    line TEXT, position INTEGER, task_id TEXT, since INTEGER NOT NULL,
    PRIMARY KEY (line, position, task_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lines (
    id TEXT PRIMARY KEY, wake_bucket TEXT NOT NULL, wake_key TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS line_wakes ON lines (wake_bucket, wake_key);
CREATE TABLE IF NOT EXISTS rates (
    namespace TEXT, name TEXT, key TEXT, tat INTEGER NOT NULL, blocked_until INTEGER NOT NULL,
    PRIMARY KEY (namespace, name, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS rate_ends ON rates (tat);
CREATE TABLE IF NOT EXISTS limits (
    namespace TEXT, name TEXT, definition TEXT NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    day INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_spec TEXT NOT NULL,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    wake_bucket TEXT,
    wake_key TEXT,
    kept_from INTEGER,
    state TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS run_wakes ON runs (wake_bucket, wake_key) WHERE wake_bucket IS NOT NULL;
CREATE INDEX IF NOT EXISTS run_listing ON runs (namespace, day, id);
CREATE INDEX IF NOT EXISTS run_days ON runs (day, id) WHERE namespace > '';
CREATE INDEX IF NOT EXISTS run_ends ON runs (kept_from) WHERE kept_from IS NOT NULL;
CREATE TABLE IF NOT EXISTS definitions (
    digest TEXT PRIMARY KEY, definition TEXT NOT NULL, needed_until INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS workflows (
    namespace TEXT, name TEXT, version INTEGER NOT NULL, digest TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, revision INTEGER NOT NULL,
    deleted INTEGER NOT NULL, PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS workflow_versions (
    namespace TEXT, name TEXT, version INTEGER, digest TEXT NOT NULL,
    PRIMARY KEY (namespace, name, version)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stats (
    span INTEGER, start INTEGER, lane TEXT, counts TEXT NOT NULL, PRIMARY KEY (span, start, lane)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# Each migrates a file from its format to the next, in one transaction. A migration does not change
# when SCHEMA changes later.
MIGRATIONS = {
    1: """
ALTER TABLE tasks ADD COLUMN schedule_id TEXT;
ALTER TABLE tasks ADD COLUMN reason TEXT;
CREATE TABLE schedules (
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
CREATE TABLE ledger (
    schedule_id TEXT, key TEXT, version INTEGER NOT NULL, entry TEXT NOT NULL,
    kept_until INTEGER NOT NULL, PRIMARY KEY (schedule_id, key)
) WITHOUT ROWID;
""",
    # The columns, the table and the indexes that filters use; ids of clients and unique keys.
    2: """
ALTER TABLE tasks ADD COLUMN body_hash TEXT;
CREATE TABLE unique_keys (
    namespace TEXT, key TEXT, task_id TEXT NOT NULL, PRIMARY KEY (namespace, key)
) WITHOUT ROWID;
DROP INDEX IF EXISTS listing;
DROP INDEX IF EXISTS occurrences;
ALTER TABLE tasks ADD COLUMN day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN name TEXT;
ALTER TABLE tasks ADD COLUMN target TEXT;
CREATE TABLE tags (
    namespace TEXT, tag TEXT, day INTEGER, id TEXT, PRIMARY KEY (namespace, tag, day, id)
) WITHOUT ROWID;
UPDATE tasks SET day = created_at / 86400000;
CREATE TEMP TABLE specs AS
    SELECT t.id, t.namespace, t.day, coalesce(b.body, t.spec) AS spec
    FROM tasks AS t LEFT JOIN bodies AS b ON b.task_id = t.id AND b.part = 'spec'
    WHERE json_valid(coalesce(b.body, t.spec));
UPDATE tasks SET
    name = json_extract(s.spec, '$.name'),
    target = json_extract(s.spec, '$.target.type')
        || coalesce(':' || json_extract(s.spec, '$.target.handler'), '')
    FROM temp.specs AS s WHERE s.id = tasks.id;
INSERT OR IGNORE INTO tags
    SELECT s.namespace, tag.key, s.day, s.id
    FROM temp.specs AS s, json_each(s.spec, '$.tags') AS tag
    UNION ALL SELECT s.namespace, tag.key || ':' || tag.value, s.day, s.id
    FROM temp.specs AS s, json_each(s.spec, '$.tags') AS tag;
DROP TABLE temp.specs;
""",
    # The tasks that handlers submit.
    3: """
ALTER TABLE tasks ADD COLUMN parent_id TEXT;
""",
    # Aging, and limits.
    4: """
ALTER TABLE tasks ADD COLUMN promoted TEXT;
ALTER TABLE tasks ADD COLUMN held INTEGER;
ALTER TABLE tasks ADD COLUMN grant_at INTEGER;
CREATE TABLE slots (
    line TEXT, number INTEGER, task_id TEXT NOT NULL, token TEXT NOT NULL, since INTEGER NOT NULL,
    PRIMARY KEY (line, number)
) WITHOUT ROWID;
CREATE TABLE places (
    line TEXT, position INTEGER, task_id TEXT, since INTEGER NOT NULL,
    PRIMARY KEY (line, position, task_id)
) WITHOUT ROWID;
CREATE TABLE lines (
    id TEXT PRIMARY KEY, wake_bucket TEXT NOT NULL, wake_key TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE rates (
    namespace TEXT, name TEXT, key TEXT, tat INTEGER NOT NULL, blocked_until INTEGER NOT NULL,
    PRIMARY KEY (namespace, name, key)
) WITHOUT ROWID;
CREATE TABLE limits (
    namespace TEXT, name TEXT, definition TEXT NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
""",
    # Workflows. The index `ended` has the tasks of steps apart.
    5: """
ALTER TABLE tasks ADD COLUMN suspended TEXT;
DROP INDEX IF EXISTS ended;
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    day INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_spec TEXT NOT NULL,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    wake_bucket TEXT,
    wake_key TEXT,
    kept_from INTEGER,
    state TEXT NOT NULL
);
CREATE TABLE definitions (
    digest TEXT PRIMARY KEY, definition TEXT NOT NULL, needed_until INTEGER
) WITHOUT ROWID;
CREATE TABLE workflows (
    namespace TEXT, name TEXT, version INTEGER NOT NULL, digest TEXT NOT NULL,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, revision INTEGER NOT NULL,
    deleted INTEGER NOT NULL, PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE workflow_versions (
    namespace TEXT, name TEXT, version INTEGER, digest TEXT NOT NULL,
    PRIMARY KEY (namespace, name, version)
) WITHOUT ROWID;
""",
    # Statistics.
    6: """
CREATE TABLE stats (
    span INTEGER, start INTEGER, lane TEXT, counts TEXT NOT NULL, PRIMARY KEY (span, start, lane)
) WITHOUT ROWID;
""",
}


def create(connection: sqlite3.Connection) -> None:
    """One transaction: each of these statements alone would be written to the disk and synced."""
    connection.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT")


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate a file to this format. Raises DuetimeError if the file lacks a table: a new, empty
    table in its place would hide the loss."""
    if "tasks" not in columns_of(connection):
        raise DuetimeError(f"{path} holds no table of Duetime: {REMEDY}")
    [version] = connection.execute("PRAGMA user_version").fetchone()
    while version in MIGRATIONS:
        migrate(connection, version)
        version += 1
    if version != FORMAT:
        raise DuetimeError(
            f"{path} is in format {version}, which this version of Duetime ({FORMAT}) does not read"
        )
    if missing := _missing(connection):
        raise DuetimeError(f"{path} lacks {', '.join(missing)}: {REMEDY}")
    connection.executescript(SCHEMA)  # creates missing indexes and triggers


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Run one migration as a whole or not at all: a runner may be killed while it starts."""
    script = f"BEGIN IMMEDIATE; {MIGRATIONS[version]} PRAGMA user_version = {version + 1}; COMMIT"
    try:
        connection.executescript(script)
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def columns_of(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Returns the columns of each table."""
    rows = connection.execute(
        "SELECT tables.name, columns.name FROM sqlite_schema AS tables,"
        " pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'"
    ).fetchall()
    found: dict[str, set[str]] = {}
    for table, column in rows:
        found.setdefault(table, set()).add(column)
    return found


def _missing(connection: sqlite3.Connection) -> list[str]:
    """Returns the tables and columns that SCHEMA has and the file lacks."""
    model = sqlite3.connect(":memory:")
    try:
        model.executescript(SCHEMA)
        wanted = columns_of(model)
    finally:
        model.close()
    there = columns_of(connection)
    tables = [f"the table {table}" for table in wanted if table not in there]
    shared = [table for table in wanted if table in there]
    return tables + [f"{t}.{name}" for t in shared for name in sorted(wanted[t] - there[t])]
