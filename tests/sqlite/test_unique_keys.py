"""Unique keys do not accumulate: they go with their tasks."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duetime.core.ports import UniqueKey
from duetime.core.wake_policy import WakePolicy
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, a_task, an_id


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "duetime.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(path)) as store:
        yield store


def key_of(task_id: str, key: str = "k") -> UniqueKey:
    return UniqueKey(namespace="default", key=key, task_id=task_id)


def keys_in(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM unique_keys")}


def test_unique_key_is_deleted_with_its_task(store: SqliteTaskStore, path: Path):
    kept, gone = a_task(), a_task()
    store.put([kept, gone])
    store.take_keys([key_of(kept.id, "kept"), key_of(gone.id, "gone")])

    store._database.write(lambda c: c.execute("DELETE FROM tasks WHERE id = ?", (gone.id,)))

    assert keys_in(path) == {"kept"}


def test_unique_key_without_a_task_is_deleted_at_the_start(store: SqliteTaskStore, path: Path):
    task = a_task()
    store.put([task])
    store.take_keys([key_of(task.id, "kept"), key_of(an_id(), "abandoned")])

    store.recover(WakePolicy(shards=1), NOW)

    assert keys_in(path) == {"kept"}
