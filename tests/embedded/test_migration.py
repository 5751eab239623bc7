"""A store of an earlier format is taken over, with all that is in it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from duetime.embedded import database as module
from duetime.embedded.rows import COLD, HOT, new_row
from duetime.embedded.store import EmbeddedStore
from lambdas.core.change import Applied
from lambdas.core.errors import DuetimeError
from lambdas.core.ports import Listing
from lambdas.core.schedules.ports import Stands
from lambdas.core.steps.record import succeed
from lambdas.core.task import Task
from tests.factories import NOW, SteppedClock, a_running_task, a_schedule, a_spec, a_task

NEW = ("schedule_id", "reason")  # columns
FORMAT_1 = """
CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    created_at INTEGER NOT NULL,
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
    result TEXT
);
CREATE INDEX IF NOT EXISTS wakes ON tasks (wake_bucket, wake_key) WHERE wake_bucket IS NOT NULL;
CREATE INDEX IF NOT EXISTS listing ON tasks (namespace, id);
CREATE INDEX IF NOT EXISTS dead ON tasks (updated_at, id) WHERE status = 'DEAD';
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
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "duetime.db"


def written_in_format_1(path: Path, *tasks: Task) -> None:
    """As the version before wrote them: what it did not know of, it did not write."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(FORMAT_1)
        connection.execute("PRAGMA user_version = 1")
        for task in tasks:
            row = dict(zip(COLD + HOT, new_row(connection, task), strict=True))
            known = {name: value for name, value in row.items() if name not in NEW}
            connection.execute(
                f"INSERT INTO tasks ({', '.join(known)}) VALUES ({', '.join('?' * len(known))})",
                tuple(known.values()),
            )


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        [version] = connection.execute("PRAGMA user_version").fetchone()
        return version


def columns_of(path: Path, table: str) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def test_what_format_1_holds_goes_on(path: Path):
    waiting, running = a_task(spec=a_spec(payload="p" * 5_000)), a_running_task()
    written_in_format_1(path, waiting, running)
    assert format_of(path) == 1
    assert "reason" not in columns_of(path, "tasks")

    with closing(EmbeddedStore(path)) as store:
        assert store.get([waiting.id, running.id]) == {t.id: t for t in (waiting, running)}
        assert sorted(t.id for t in store.page(Listing()).tasks) == sorted([waiting.id, running.id])
        [done] = store.apply([succeed(running, result=1, now=NOW)])
        assert isinstance(done, Applied)

    assert format_of(path) == module.FORMAT


def test_it_takes_schedules_from_then_on_and_after_a_restart(path: Path):
    written_in_format_1(path, a_task())
    schedule, cancelled = a_schedule(), a_task(reason="overlap")
    for _ in range(2):
        with closing(EmbeddedStore(path)) as store:
            schedules = store.schedules(SteppedClock())
            assert schedules.put([schedule]) == [Stands(schedule)]
            store.put([cancelled])
            assert schedules.get([schedule.id]) == {schedule.id: schedule}
            assert store.get([cancelled.id])[cancelled.id].reason == "overlap"
            assert len(store.few_wakes(9)) == 3


def test_a_migration_that_is_cut_off_leaves_the_old_format(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    task = a_task()
    written_in_format_1(path, task)
    before = columns_of(path, "tasks")
    with monkeypatch.context() as patch:
        patch.setitem(
            module.MIGRATIONS, 1, module.MIGRATIONS[1] + "INSERT INTO nowhere VALUES (1);"
        )
        with pytest.raises(DuetimeError, match="nowhere"):
            EmbeddedStore(path)

    assert (format_of(path), columns_of(path, "tasks")) == (1, before)
    with closing(EmbeddedStore(path)) as store:
        assert store.get([task.id]) == {task.id: task}


def test_a_cut_between_the_migration_and_the_new_tables_is_made_good(path: Path):
    written_in_format_1(path)
    with closing(sqlite3.connect(path)) as connection:
        module._migrate(connection, 1)

    with closing(EmbeddedStore(path)) as store:
        schedule = a_schedule()
        assert store.schedules(SteppedClock()).put([schedule]) == [Stands(schedule)]


@pytest.mark.parametrize("version", [0, 3, 99])
def test_any_other_format_is_refused_and_left_alone(path: Path, version: int):
    written_in_format_1(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = columns_of(path, "tasks")

    with pytest.raises(DuetimeError, match=f"format {version}"):
        EmbeddedStore(path)
    assert (format_of(path), columns_of(path, "tasks")) == (version, before)
