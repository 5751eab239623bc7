"""Group commit: many writers share one, and none fails because of another."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from duetime.core.errors import DuetimeError, Unavailable
from duetime.sqlite import database as module
from duetime.sqlite.database import GROUP_LIMIT, Database
from duetime.sqlite.queued_write import QueuedWrite
from duetime.sqlite.schema import FORMAT


class Watched(Database):
    """Counts commits and rollbacks; its first writer can be delayed while others queue."""

    def __init__(self, path: Path | None) -> None:
        self.commits = self.rollbacks = 0
        super().__init__(path, on_commit=self._count_commit, on_rollback=self._count_rollback)
        self.write(lambda c: c.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)"))
        self.commits = 0

    def _count_commit(self) -> None:
        self.commits += 1

    def _count_rollback(self) -> None:
        self.rollbacks += 1

    def numbers(self) -> set[int]:
        with self.read() as connection:
            return {n for (n,) in connection.execute("SELECT n FROM numbers")}


@pytest.fixture(params=["file", "memory"])
def database(request: pytest.FixtureRequest, tmp_path: Path):
    database = Watched(tmp_path / "duetime.db" if request.param == "file" else None)
    yield database
    database.close()


def insert(n: int):
    def action(connection: sqlite3.Connection) -> int:
        connection.execute("INSERT INTO numbers VALUES (?)", (n,))
        return n

    return action


def all_queued(database: Database, actions: list) -> list:
    """Every action is queued before the first of them runs."""
    outcomes: list = [None] * len(actions)

    def write(number: int) -> None:
        try:
            outcomes[number] = database.write(actions[number])
        except Exception as error:  # noqa: BLE001 - it is what a test asks for
            outcomes[number] = error

    with ThreadPoolExecutor(len(actions)) as threads:
        with database._write_lock:
            futures = [threads.submit(write, number) for number in range(len(actions))]
            while len(database._queue) < len(actions):
                threading.Event().wait(0.001)
        for future in futures:
            future.result()
    return outcomes


def test_queued_writers_share_a_commit(database: Watched):
    assert all_queued(database, [insert(n) for n in range(20)]) == list(range(20))
    assert database.numbers() == set(range(20))
    assert database.commits == 1


def test_a_queue_longer_than_a_group_gives_each_write_its_own_answer(database: Watched):
    count = 2 * GROUP_LIMIT + 7
    assert all_queued(database, [insert(n) for n in range(count)]) == list(range(count))
    assert database.numbers() == set(range(count))
    assert database.commits == 3


def test_a_write_that_fails_does_not_fail_the_others(database: Watched):
    def half(connection: sqlite3.Connection) -> None:
        insert(100)(connection)
        raise ZeroDivisionError

    actions = [insert(1), half, insert(2), insert(1), insert(3)]
    outcomes = all_queued(database, actions)

    failed = [o for o in outcomes if isinstance(o, Exception)]
    assert sorted(type(error).__name__ for error in failed) == [
        "IntegrityError",
        "ZeroDivisionError",
    ]
    assert database.numbers() == {1, 2, 3}
    assert (database.commits, database.rollbacks) == (1, 2)


def queueing(database: Database, entry: QueuedWrite, n: int):
    """An action that inserts a number; meanwhile another thread queues its write."""

    def action(connection: sqlite3.Connection) -> None:
        if not entry.done and entry not in database._queue and entry.error is None:
            database._queue.append(entry)
        insert(n)(connection)

    return action


def test_write_that_is_queued_while_a_group_runs_shares_its_commit(database: Watched):
    late = QueuedWrite(insert(2))

    database.write(queueing(database, late, 1))

    assert (late.done, late.outcome()) == (True, 2)
    assert database.numbers() == {1, 2}
    assert (database.commits, database.rollbacks) == (1, 0)


def test_late_write_that_fails_does_not_fail_its_group(database: Watched):
    database.write(insert(2))
    late = QueuedWrite(insert(2))

    database.write(queueing(database, late, 1))

    assert late.done
    assert isinstance(late.error, sqlite3.IntegrityError)
    assert database.numbers() == {1, 2}
    assert (database.commits, database.rollbacks) == (2, 1)


def test_commit_that_does_not_wait_for_the_disk_takes_no_late_write_that_does(database: Watched):
    late = QueuedWrite(insert(2), durable=True)

    database.write(queueing(database, late, 1), durable=False)

    assert not late.done
    assert (database.numbers(), database.commits) == ({1}, 1)
    database.write(insert(3))
    assert late.outcome() == 2


def test_group_is_full_at_its_limit(database: Watched):
    late = [QueuedWrite(insert(n)) for n in range(1, GROUP_LIMIT + 1)]

    def queues_many(connection: sqlite3.Connection) -> None:
        database._queue.extend(late)
        insert(0)(connection)

    database.write(queues_many)

    assert [entry.done for entry in late] == [True] * (GROUP_LIMIT - 1) + [False]
    assert database.commits == 1


class FullDisk:
    """A connection that takes everything in and cannot commit it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str):
        return getattr(self._connection, name)

    def execute(self, sql: str, *values: tuple) -> sqlite3.Cursor:
        if sql == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")
        return self._connection.execute(sql, *values)


def test_a_commit_that_fails_fails_every_write_of_its_group(database: Watched):
    connection = database._writer
    database._writer = FullDisk(connection)
    outcomes = all_queued(database, [insert(1), insert(2)])
    database._writer = connection

    assert [str(error) for error in outcomes] == ["database or disk is full"] * 2
    assert all(isinstance(error, Unavailable) for error in outcomes)
    assert (database.numbers(), database.commits) == (set(), 0)
    assert database.write(insert(1)) == 1


def test_a_disk_without_room_is_not_available(database: Watched):
    def no_room(connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    [error] = all_queued(database, [no_room])
    assert isinstance(error, Unavailable)
    assert database.write(insert(1)) == 1


def test_an_interrupted_writer_leaves_no_thread_waiting(database: Watched):
    """Ctrl-C in the thread that commits for all: the others learn that they are not written."""

    def interrupted(connection: sqlite3.Connection) -> None:
        raise KeyboardInterrupt

    other = QueuedWrite(insert(1))
    database._queue.append(other)
    with pytest.raises(KeyboardInterrupt):
        database.write(interrupted)

    assert other.done
    with pytest.raises(Unavailable):
        other.outcome()
    assert database.numbers() == set()
    assert database.write(insert(2)) == 2


def test_a_reader_never_sees_what_is_not_committed(tmp_path: Path):
    database = Watched(tmp_path / "duetime.db")

    def action(connection: sqlite3.Connection) -> set[int]:
        insert(1)(connection)
        return database.numbers()

    assert database.write(action) == set()
    assert database.numbers() == {1}
    database.close()


class Broken:
    """A connection whose disk is gone: it can neither commit nor roll back."""

    def __init__(self, real: sqlite3.Connection) -> None:
        self._real = real

    def execute(self, sql: str, *parameters: object) -> object:
        if sql in ("COMMIT", "ROLLBACK"):
            raise sqlite3.OperationalError("disk I/O error")
        return self._real.execute(sql, *parameters)

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)


def test_no_write_is_stored_when_not_even_a_rollback_works(tmp_path: Path):
    database = Watched(tmp_path / "duetime.db")
    database._writer = Broken(database._writer)

    outcomes = all_queued(database, [insert(n) for n in range(3)])

    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
    assert database.write(insert(7)) == 7  # on a new connection
    assert database.numbers() == {7}
    database.close()


def test_writer_that_cannot_be_opened_again_is_unavailable_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    database = Watched(tmp_path / "duetime.db")
    database._writer = Broken(database._writer)
    with monkeypatch.context() as patch:
        patch.setattr(module.sqlite3, "connect", no_descriptor)
        for _ in range(2):
            with pytest.raises(Unavailable):
                database.write(insert(1))

    assert database.write(insert(7)) == 7
    assert database.numbers() == {7}
    database.close()


def no_descriptor(*_: object, **__: object) -> sqlite3.Connection:
    raise sqlite3.OperationalError("unable to open database file")


def test_a_store_in_another_format_is_refused_and_left_alone(tmp_path: Path):
    path = tmp_path / "duetime.db"
    Watched(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {FORMAT + 1}")

    for _ in range(2):  # nor is it held
        with pytest.raises(DuetimeError, match=f"format {FORMAT + 1}"):
            Watched(path)


def test_a_file_that_is_no_store_is_refused(tmp_path: Path):
    path = tmp_path / "duetime.db"
    path.write_text("a shopping list, and long enough to be read as a header of something")

    with pytest.raises(DuetimeError, match=r"is damaged .*file is not a database"):
        Watched(path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()

    with pytest.raises(DuetimeError, match="cannot be used: Not a directory"):
        Watched(tmp_path / "file" / "data" / "duetime.db")


def test_the_folder_is_its_owners(tmp_path: Path):
    Watched(tmp_path / "data" / "duetime.db").close()

    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def sync_mode(connection: sqlite3.Connection) -> str:
    (mode,) = connection.execute("PRAGMA synchronous").fetchone()
    return {1: "NORMAL", 2: "FULL"}[mode]


def test_a_write_that_need_not_be_durable_does_not_wait_for_the_disk(database: Database):
    modes = [database.write(sync_mode, durable=durable) for durable in (True, False, False, True)]

    assert modes == ["FULL", "NORMAL", "NORMAL", "FULL"]


def test_a_group_with_a_durable_write_waits_for_the_disk(database: Database):
    modes: list[str] = []

    def note(connection: sqlite3.Connection) -> None:
        modes.append(sync_mode(connection))

    database.write(insert(1), durable=False)
    database._queue.append(QueuedWrite(note, durable=False))
    database.write(note)

    assert modes == ["FULL", "FULL"]


def test_a_new_writer_connection_does_not_wait_for_the_disk_either(tmp_path: Path):
    with closing(Watched(tmp_path / "duetime.db")) as database:
        database.write(insert(1), durable=False)
        database._writer.close()
        database._writer = None

        assert database.write(sync_mode, durable=False) == "NORMAL"
