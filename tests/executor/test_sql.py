"""The `sql` target on SQLite and on PostgreSQL, both real."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from duetime.core.lifecycle import Status
from duetime.core.task import Task
from duetime.executor.executor import Executor
from duetime.executor.targets.sql import MAX_ROWS, SqlTarget
from duetime.local.databases import open_database
from tests.factories import result_of
from tests.postgresql import a_postgresql
from tests.world import World

CREATE = "CREATE TABLE orders (id TEXT PRIMARY KEY, item TEXT, n INTEGER, doc TEXT)"
INSERT = "INSERT INTO orders (id, item, n, doc) VALUES (:id, :item, :n, :doc)"
ROW = {"id": "7", "item": "tea", "n": 2, "doc": {"gift": True}}


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    with a_postgresql() as url:
        yield url


@dataclass
class Shop:
    """A database with a table of orders."""

    name: str
    read: Callable[[str], list[tuple[Any, ...]]]
    write: Callable[[str], None]
    lock: Callable[[], Any]  # another writer's transaction, to be closed


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Shop:
    world.chance.luck = 0
    url = f"sqlite:///{tmp_path}/shop.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgresql")
    connect = _sqlite(tmp_path / "shop.db") if request.param == "sqlite" else _postgresql(url)

    def read(query: str) -> list[tuple[Any, ...]]:
        with connect() as connection:
            return connection.execute(query).fetchall()

    def write(statement: str) -> None:
        connection = connect()
        connection.execute(statement)
        connection.commit()
        connection.close()

    def lock() -> Any:
        connection = connect()
        connection.execute("INSERT INTO orders (id) VALUES ('7')")
        return connection

    write("DROP TABLE IF EXISTS orders")
    write(CREATE)
    target = SqlTarget({"main": open_database(url)})
    world.executor = Executor(world.ports, {"sql": target})
    return Shop(request.param, read, write, lock)


def _sqlite(path: Path) -> Callable[[], Any]:
    return lambda: sqlite3.connect(path)


def _postgresql(url: str) -> Callable[[], Any]:
    return lambda: psycopg.connect(url)


def run(world: World, statement: str, payload: Any = None, **fields: Any) -> Task:
    target = {"type": "sql", "database": "main", "statement": statement}
    task_id = world.submit(target=target, payload=payload, **fields)
    world.deliver()
    return world.task(task_id)


def error_of(task: Task) -> tuple[str, str]:
    assert task.current is not None
    assert task.current.error is not None
    return task.current.error.type, task.current.error.message


def test_sql_binds_the_payload_and_counts_the_rows(world: World, shop: Shop):
    task = run(world, INSERT, ROW)

    assert result_of(task) == {"rows_changed": 1}
    assert shop.read("SELECT * FROM orders") == [("7", "tea", 2, '{"gift":true}')]


def test_sql_value_never_becomes_part_of_the_statement(world: World, shop: Shop):
    mean = "x'); DROP TABLE orders; --"
    run(world, INSERT, {**ROW, "item": mean})

    assert shop.read("SELECT item FROM orders") == [(mean,)]


def test_sql_leaves_quotes_comments_and_percent_signs_alone(world: World, shop: Shop):
    statement = "SELECT ':n' AS a, '100 %s %' AS b, :n AS \"c:d\" /* :m */ -- :o"
    task = run(world, statement, {"n": "v"})

    assert result_of(task) == {"rows": [{"a": ":n", "b": "100 %s %", "c:d": "v"}]}


def test_sql_returns_rows_of_a_select_and_of_returning(world: World, shop: Shop):
    returned = run(world, f"{INSERT} RETURNING id, n", ROW)
    selected = run(world, "SELECT id, n FROM orders WHERE n > :least", {"least": 1})

    assert result_of(returned) == result_of(selected) == {"rows": [{"id": "7", "n": 2}]}
    assert shop.read("SELECT count(*) FROM orders") == [(1,)]


def test_sql_returns_a_bounded_number_of_rows(world: World, shop: Shop):
    rows = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 500)"
    many = result_of(run(world, f"{rows} SELECT n FROM r"))
    assert (len(many["rows"]), many["rows_left_out"]) == (MAX_ROWS, True)

    large = result_of(run(world, f"{rows} SELECT :text AS t FROM r", {"text": "x" * 10_000}))
    assert (len(large["rows"]), large["rows_left_out"]) == (4, True)


def test_sql_with_the_task_id_in_a_key_has_its_effect_once(world: World, shop: Shop):
    """A lost answer to the commit makes the statement run again."""
    statement = "INSERT INTO orders (id, n) VALUES (:task_id, :attempt) ON CONFLICT DO NOTHING"
    target = {"type": "sql", "database": "main", "statement": statement}
    task_id = world.submit(target=target)
    shop.write(f"INSERT INTO orders (id, n) VALUES ('{task_id}', 0)")  # the earlier attempt
    world.deliver()

    assert result_of(world.task(task_id)) == {"rows_changed": 0}
    assert shop.read("SELECT id, n FROM orders") == [(task_id, 0)]


@pytest.mark.parametrize(
    ("statement", "payload"),
    [
        ("SELEC 1", None),
        ("SELECT * FROM missing", None),
        ("INSERT INTO orders (id) VALUES ('1'), ('1')", None),
        ("SELECT 1; SELECT 2", None),
    ],
)
def test_sql_error_of_the_statement_is_permanent_and_leaves_nothing(
    world: World, shop: Shop, statement: str, payload: Any
):
    task = run(world, statement, payload)

    assert task.status is Status.DEAD
    assert shop.read("SELECT count(*) FROM orders") == [(0,)]


def test_sql_names_the_error_as_the_database_does(world: World, shop: Shop):
    run(world, INSERT, ROW)
    names = {"sqlite": "SQLITE_CONSTRAINT_PRIMARYKEY", "postgresql": "UniqueViolation"}

    assert error_of(run(world, INSERT, ROW))[0] == names[shop.name]


def test_sql_waits_for_a_lock_no_longer_than_the_timeout_and_is_retried(world: World, shop: Shop):
    other = shop.lock()
    try:
        task = run(world, INSERT, ROW, timeout=1)
    finally:
        other.close()

    assert task.status is Status.RETRYING
    names = {"sqlite": "SQLITE_BUSY", "postgresql": "QueryCanceled"}
    assert error_of(task)[0] == names[shop.name]


def test_sql_statement_that_runs_is_stopped_by_an_interrupt(world: World, shop: Shop):
    endless = {
        "sqlite": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
        "SELECT max(n) FROM r",
        "postgresql": "SELECT pg_sleep(3600)",
    }
    target = {"type": "sql", "database": "main", "statement": endless[shop.name]}
    world.submit(target=target, timeout=3600)
    [run] = world.lease()
    stopping = threading.Thread(target=_force_stop, args=[run.control, shop])
    stopping.start()
    end = world.executor.run_target(run)
    stopping.join()

    assert end.failure is not None
    assert end.failure.error.type == "Stopped"


def _force_stop(control: Any, shop: Shop) -> None:
    """PostgreSQL ignores a request to cancel that comes before the statement, so wait for it."""
    asleep = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
    while not control.interrupt._armed or (shop.name == "postgresql" and not shop.read(asleep)):
        threading.Event().wait(0.001)
    control.force_stop()


def test_sql_database_that_is_not_configured_is_tried_again(world: World, shop: Shop):
    target = {"type": "sql", "database": "other", "statement": "SELECT 1"}
    task_id = world.submit(target=target)
    world.deliver()

    task = world.task(task_id)
    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "UnknownDatabase")


def test_sql_on_postgresql_returns_its_own_types_as_json(world: World, postgresql: str):
    world.executor = Executor(world.ports, {"sql": SqlTarget({"main": open_database(postgresql)})})
    statement = (
        "SELECT 1.5::numeric AS a, '2026-11-16 09:00+01'::timestamptz AS b, '\\x00ff'::bytea AS c,"
        " '{1,2}'::int[] AS d, :doc::jsonb -> 'k' AS e, int4range(1, 5) AS f,"
        " 'NaN'::float8 AS g, :u::uuid AS h"
    )
    given = {"doc": {"k": 1}, "u": "6f1c2a52-8f1e-4d0e-9d2e-1f2a3b4c5d6e"}
    [row] = result_of(run(world, statement, given))["rows"]

    assert row.pop("b").startswith("2026-11-16T08:00:00")
    assert row == {
        "a": "1.5",
        "c": "00ff",
        "d": [1, 2],
        "e": 1,
        "f": "[1, 5)",
        "g": "nan",
        "h": given["u"],
    }


def test_sql_on_a_server_that_is_away_is_tried_again(world: World, tmp_path: Path):
    url = f"postgresql:///shop?host={tmp_path}"
    world.executor = Executor(world.ports, {"sql": SqlTarget({"main": open_database(url)})})
    task = run(world, "SELECT 1")

    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "ConnectionFailed")


def test_sql_on_sqlite_opens_no_other_file(world: World, tmp_path: Path):
    database = open_database(f"sqlite:///{tmp_path}/shop.db")
    world.executor = Executor(world.ports, {"sql": SqlTarget({"main": database})})
    other = tmp_path / "other.db"

    for statement in (f"ATTACH '{other}' AS other", f"VACUUM INTO '{other}'"):
        assert run(world, statement).status is Status.DEAD
    assert not other.exists()
