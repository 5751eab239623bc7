"""A read that the file does not answer raises Unavailable; every other error passes through."""

import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from duetime.core.errors import Corrupt, StoreLost, Unavailable
from duetime.core.listings import Listing
from duetime.core.wakes import minute_of, shard_of
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import WAKE_POLICY, a_task

HEADER = 100  # bytes that a SQLite file begins with


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "duetime.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(path)) as store:
        yield store


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as opened:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        while True:
            try:
                opened.callback(os.close, os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        yield


def damage(path: Path) -> None:
    """Overwrite every page behind the header, as a bad disk may."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(HEADER)
        file.write(b"\xa5" * (size - HEADER))


def test_reader_that_gets_no_descriptor_is_unavailable_and_then_works_again(store: SqliteTaskStore):
    task = a_task()
    store.put([task])

    with (
        store._database.read(),  # the connection that is kept is in use
        no_descriptor_left(),
        pytest.raises(Unavailable, match="unable to open"),
    ):
        store.get([task.id])

    assert store.get([task.id]) == {task.id: task}


def test_statement_that_fails_while_reading_is_unavailable(store: SqliteTaskStore):
    with pytest.raises(Unavailable, match="no such table"), store._database.read() as connection:
        connection.execute("SELECT * FROM nowhere")


def test_read_of_a_damaged_file_says_what_to_do(path: Path):
    with closing(SqliteTaskStore(path)) as store:
        store.put([a_task() for _ in range(100)])
    store = SqliteTaskStore(path)
    damage(path)

    with pytest.raises(StoreLost, match=r"duetime.db is damaged .*put a backup in its place"):
        store.page(Listing())


def test_check_of_a_store_reads_it(path: Path):
    store = SqliteTaskStore(path)
    store.put([a_task() for _ in range(100)])
    store.check()
    damage(path)

    with pytest.raises(StoreLost, match=r"duetime.db is damaged"):
        store.check()


@pytest.mark.parametrize("error", [Corrupt("x", "y"), ValueError("no cursor"), KeyError("k")])
def test_other_errors_are_raised_by_a_read(store: SqliteTaskStore, error: Exception):
    with pytest.raises(type(error)) as raised, store._database.read():
        raise error

    assert raised.value is error


def test_mistake_in_the_code_is_no_unavailable_store(store: SqliteTaskStore):
    with pytest.raises(sqlite3.ProgrammingError), store._database.read() as connection:
        connection.execute("SELECT ?", ())


def test_reads_side_by_side_share_few_connections(store: SqliteTaskStore):
    with ExitStack() as reading:
        connections = {id(reading.enter_context(store._database.read())) for _ in range(5)}
    assert len(connections) == 5

    for _ in range(5):
        with store._database.read() as connection:
            assert id(connection) in connections


def test_wakes_are_read_before_the_connection_is_given_back(store: SqliteTaskStore):
    """The scanner consumes them later, when another thread may use the connection."""
    task = a_task()
    store.put([task])
    assert task.wake

    wakes = store.wakes(minute_of(task.wake.at), shard_of(task.id, WAKE_POLICY.shards))
    with store._database.read() as connection:
        connection.execute("SELECT 1").fetchall()

    assert list(wakes) == [task.wake]
