"""The files of a store: their modes, their locks, and their loss while the store is open."""

import multiprocessing
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from duetime.core.change import Applied, Unknown
from duetime.core.errors import DataInUse, DuetimeError, StoreLost
from duetime.core.listings import Listing
from duetime.sqlite import files
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import a_task

PATIENCE = 60  # seconds: a process that takes so long has failed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "duetime.db"


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def elsewhere(act: Any, *arguments: Any) -> Any:
    """Returns the answer of a function in a process of its own, or the name of its error."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_report, args=(theirs, act, arguments))
    process.start()
    assert ours.poll(PATIENCE)
    answer = ours.recv()
    process.join(PATIENCE)
    return answer


def _report(pipe: Any, act: Any, arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send(act(*arguments))
    except Exception as error:  # noqa: BLE001 - it is what a test asks for
        pipe.send(type(error).__name__)


def open_and_close(path: Path) -> str:
    SqliteTaskStore(path).close()
    return "opened"


# Modes.


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_every_file_is_its_owners_alone_whatever_the_umask(path: Path, mask: int):
    path.parent.mkdir(mode=0o755)
    with umask(mask), closing(SqliteTaskStore(path)) as store:
        store.put([a_task()])
        store.page(Listing())

        assert modes(path.parent) == dict.fromkeys(
            ["duetime.db", "duetime.db-shm", "duetime.db-wal", "duetime.held"], 0o600
        )


def test_files_of_an_earlier_version_become_their_owners_alone(path: Path):
    store = SqliteTaskStore(path)
    store.put([a_task()])
    for file in path.parent.iterdir():
        file.chmod(0o644)
    with closing(sqlite3.connect(path)) as keeps_the_log:
        keeps_the_log.execute("SELECT count(*) FROM tasks").fetchall()
        store.close()
        with closing(SqliteTaskStore(path)):
            assert set(modes(path.parent).values()) == {0o600}


# Which files are stores.


def test_file_emptied_to_0_bytes_is_refused_and_left_alone(path: Path):
    SqliteTaskStore(path).close()
    os.truncate(path, 0)

    with pytest.raises(DuetimeError, match="is empty: put a backup in its place, or delete it"):
        SqliteTaskStore(path)
    assert path.stat().st_size == 0


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DROP TABLE tasks", "holds no table of Duetime"),
        ("DROP TABLE attempts", "lacks the table attempts"),
        ("DROP TABLE schedules", "lacks the table schedules"),
        ("ALTER TABLE tasks DROP COLUMN reason", "lacks tasks.reason"),
    ],
)
def test_store_without_its_tables_is_refused_and_left_alone(path: Path, statement: str, said: str):
    SqliteTaskStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)

    for _ in range(2):
        with pytest.raises(DuetimeError, match=f"{said}: put a backup in its place"):
            SqliteTaskStore(path)


def test_sqlite_file_of_something_else_is_refused(path: Path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")

    with pytest.raises(DuetimeError, match="holds no table of Duetime"):
        SqliteTaskStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("recipes",)]


def test_log_without_its_database_is_refused_and_kept(path: Path):
    with closing(SqliteTaskStore(path)) as store:
        store.put([a_task()])
        kept = beside(path, "-wal").read_bytes()
    path.unlink()
    beside(path, "-wal").write_bytes(kept)

    with pytest.raises(DuetimeError, match=r"duetime.db is missing, and duetime.db-wal holds"):
        SqliteTaskStore(path)
    assert beside(path, "-wal").read_bytes() == kept
    assert not path.exists()


def killed_while_creating(path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(files.os if where == "fsync" else Path, where, die)
        SqliteTaskStore(path)


@pytest.mark.parametrize("where", ["fsync", "rename"])
def test_start_that_was_killed_while_it_made_the_store_needs_no_help(
    path: Path, monkeypatch: pytest.MonkeyPatch, where: str
):
    killed_while_creating(path, monkeypatch, where)
    assert not path.exists()

    with closing(SqliteTaskStore(path)) as store:
        [answer] = store.put([a_task()])
    assert isinstance(answer, Applied)
    assert sorted(file.name for file in path.parent.iterdir()) == ["duetime.db", "duetime.held"]


# Locks.


def test_second_runner_is_kept_off(path: Path):
    with closing(SqliteTaskStore(path)):
        assert elsewhere(open_and_close, path) == DataInUse.__name__
    assert elsewhere(open_and_close, path) == "opened"


def test_second_runner_is_kept_off_although_the_held_file_is_deleted(path: Path):
    with closing(SqliteTaskStore(path)) as store:
        path.with_suffix(".held").unlink()
        store.put([a_task()])
        store.page(Listing())

        assert elsewhere(open_and_close, path) == DataInUse.__name__


def test_second_runner_is_kept_off_by_another_name_of_the_file(path: Path):
    other = path.parent / "other" / "duetime.db"
    with closing(SqliteTaskStore(path)):
        other.parent.mkdir()
        os.link(path, other)

        assert elsewhere(open_and_close, other) == DataInUse.__name__


# Paths.


def test_relative_path_stays_the_same_file_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    task = a_task()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "other")
    SqliteTaskStore(Path("duetime.db")).close()
    monkeypatch.chdir(tmp_path / "one")
    with closing(SqliteTaskStore(Path("duetime.db"))) as store:
        store.put([task])
        monkeypatch.chdir(tmp_path / "other")

        assert store.get([task.id]) == {task.id: task}


@pytest.mark.parametrize("name", ["a b", "100%", "a?b#c", "ä%41"])
def test_folder_may_have_any_name(tmp_path: Path, name: str):
    with closing(SqliteTaskStore(tmp_path / name / "duetime.db")) as store:
        store.put([a_task()])
        assert len(store.page(Listing()).tasks) == 1

    assert (tmp_path / name / "duetime.db").exists()


# Loss.


class Losing:
    """A store that has acknowledged a task, and records its loss."""

    def __init__(self, path: Path) -> None:
        self.heard: list[StoreLost] = []
        self.store = SqliteTaskStore(path, on_lost=self.heard.append)
        [answer] = self.store.put([a_task()])
        assert isinstance(answer, Applied)


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def move_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


def replace(path: Path) -> None:
    other = path.parent.with_name("other") / path.name
    SqliteTaskStore(other).close()
    other.replace(path)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def delete_the_log(path: Path) -> None:
    beside(path, "-wal").unlink()


def replace_the_log(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(beside(path, "-wal").read_bytes())
    other.replace(beside(path, "-wal"))


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (delete, "duetime.db was deleted or moved while Duetime ran"),
        (move, "duetime.db was deleted or moved while Duetime ran"),
        (move_the_folder, "duetime.db was deleted or moved while Duetime ran"),
        (replace, "duetime.db was replaced while Duetime ran"),
        (empty, "duetime.db was emptied while Duetime ran"),
        (delete_the_log, "duetime.db-wal was deleted while Duetime ran"),
        (replace_the_log, "duetime.db-wal was replaced while Duetime ran"),
    ],
)
def test_nothing_is_acknowledged_once_its_file_is_gone(path: Path, act: Any, said: str):
    losing = Losing(path)
    act(path)

    [first] = losing.store.put([a_task()])
    [second] = losing.store.put([a_task()])

    assert isinstance(first, Unknown)
    assert isinstance(second, Unknown)
    assert said in first.reason
    assert [said in str(error) for error in losing.heard] == [True]
    with pytest.raises(StoreLost):
        losing.store.page(Listing())


def test_reader_that_would_open_another_store_notices(path: Path):
    losing = Losing(path)
    with losing.store._database.read():  # the connection that is kept is in use
        replace(path)
        with pytest.raises(StoreLost, match="replaced"):
            losing.store.page(Listing())
    assert len(losing.heard) == 1


def test_reader_makes_no_file(path: Path):
    losing = Losing(path)
    path.unlink()

    with pytest.raises(StoreLost, match="deleted"):
        losing.store.page(Listing())
    assert not path.exists()


def test_lost_store_that_is_closed_leaves_the_files_of_its_successor(path: Path):
    losing = Losing(path)
    successor = path.parent.with_name("other") / path.name
    with closing(SqliteTaskStore(successor)) as other:
        other.put([a_task()])
        for suffix in ("", "-wal", "-shm"):
            beside(path, suffix).unlink()
            os.link(beside(successor, suffix), beside(path, suffix))
        losing.store.put([a_task()])
        losing.store.close()

        assert beside(path, "-wal").exists()
