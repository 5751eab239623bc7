"""The outbox on SQLite and on PostgreSQL, both real, with the real API behind the client."""

import json
import sqlite3
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import dict_row

from duetime.api import task_models
from duetime.client import ApiError, BadArgument, Client, Unreachable
from duetime.core.ids import new_id
from duetime.core.times import MINUTE, SECOND
from duetime.outbox import bodies, drain
from duetime.outbox.dialects import dialect_of
from duetime.outbox.rows import CLAIM
from duetime.outbox.sql import ClocksDiffer, Drained, Outbox, UnknownDatabase
from tests.outbox.shop import Shop
from tests.world import World

PATIENCE = 60.0  # seconds; a wait that long is a failure
OLD = task_models.MAX_ID_AGE + 10 * MINUTE


def test_task_of_a_committed_transaction_is_submitted_and_its_row_deleted(shop: Shop) -> None:
    shop.add("shop.restock", {"item": "tea"}, priority="high", tags={"team": "growth"})

    assert shop.drain() == Drained(submitted=1)
    [task] = shop.client.list()
    assert (task["target"], task["payload"]) == (
        {"type": "python", "handler": "shop.restock"},
        {"item": "tea"},
    )
    assert (task["priority"], task["tags"]) == ("high", {"team": "growth"})
    assert shop.rows() == []
    assert shop.drain() == Drained()


def test_task_of_a_rolled_back_transaction_is_never_submitted(shop: Shop) -> None:
    with closing(shop.connect()) as connection:
        connection.cursor().execute("CREATE TABLE orders_of_outbox (id INTEGER)")
        shop.outbox.add(connection, "shop.restock", 1)
        connection.rollback()
        shop.outbox.add(connection, "shop.restock", 2)
        connection.commit()
        shop.outbox.add(connection, "shop.restock", 3)

    assert shop.drain() == Drained(submitted=1)
    assert shop.tasks() == [2]


def test_drain_waits_for_no_transaction_that_is_open(world: World, postgresql: str) -> None:
    with closing(psycopg.connect(postgresql)) as connection:
        shop = Shop(world, lambda: psycopg.connect(postgresql))
        shop.outbox.add(connection, "shop.restock", 1)
        shop.add("shop.restock", 2)
        assert shop.drain() == Drained(submitted=1)
        connection.commit()
    assert shop.drain() == Drained(submitted=1)
    assert shop.tasks() == [1, 2]


def test_tasks_are_posted_in_batches_of_100(shop: Shop) -> None:
    shop.write(
        lambda connection: [shop.outbox.add(connection, "shop.restock", n) for n in range(250)]
    )

    assert shop.drain() == Drained(submitted=250)
    assert shop.tasks() == list(range(250))
    sent = [len(json.loads(r.content)["tasks"]) for r in shop.requests if r.method == "POST"]
    assert sent == [100, 100, 50]


def test_large_bodies_are_posted_in_requests_that_the_api_accepts(shop: Shop) -> None:
    large = "x" * 250_000
    shop.write(
        lambda connection: [shop.outbox.add(connection, "shop.restock", large) for _ in range(25)]
    )
    assert shop.drain() == Drained(submitted=25)
    assert len(shop.requests) == 2


def test_any_target_and_every_type_of_a_payload_can_be_added(shop: Shop) -> None:
    moment = datetime(2026, 11, 20, tzinfo=UTC)
    key = UUID(int=7)
    target = {"type": "http", "url": "https://shop.example/hook", "method": "PUT"}
    shop.add(target, {"at": moment, "key": key, "wait": timedelta(minutes=1)}, ordering_key=key)
    shop.drain()
    [task] = shop.client.list()
    assert task["target"]["url"] == "https://shop.example/hook"
    assert task["payload"] == {"at": moment.isoformat(), "key": str(key), "wait": 60}
    assert task["ordering_key"] == str(key)


def test_limits_of_a_task_are_added(shop: Shop) -> None:
    shop.client.limits.put("stripe", concurrency=1)
    limits: Any = [{"name": "stripe", "key": UUID(int=7)}]
    shop.add("shop.restock", limits=limits, fairness_key="f", ordering_key="o", on_dead="block")
    shop.drain()
    [task] = shop.client.list()
    assert task["limits"] == [{"name": "stripe", "key": str(UUID(int=7)), "on_full": "queue"}]
    assert (task["fairness_key"], task["on_dead"]) == ("f", "block")


def test_handler_object_is_added_by_its_name(shop: Shop) -> None:
    class Restock:
        name = "shop.restock"

    shop.add(Restock(), 1)
    shop.drain()
    assert next(shop.client.list())["target"] == {"type": "python", "handler": "shop.restock"}


@pytest.mark.parametrize("delay", [90, 90.0, timedelta(seconds=90)])
def test_delay_counts_from_the_transaction(shop: Shop, delay: Any) -> None:
    due = shop.world.clock.now() + 90 * SECOND
    shop.add("shop.restock", 1, delay=delay)
    shop.world.advance(30 * SECOND)
    shop.drain()
    [task] = shop.client.list()
    assert datetime.fromisoformat(task["due_at"]).timestamp() * 1_000 == due


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        (("shop.restock", object()), {}, "payload"),
        (("shop.restock", {"at": datetime(2026, 1, 1)}), {}, "payload.at"),
        (("shop.restock", float("nan")), {}, "payload"),
        ((17, 1), {}, "target"),
        (("shop.restock", 1), {"id": "01KA5V8Y3M0000000000000001"}, "id"),
        (("shop.restock", 1), {"prio": "high"}, "prio"),
        (("shop.restock", 1), {"delay": -1}, "delay"),
        (("shop.restock", 1), {"delay": float("nan")}, "delay"),
        (("shop.restock", 1), {"delay": True}, "delay"),
        (("shop.restock", 1), {"delay": "90s"}, "delay"),
        (("shop.restock", 1), {"delay": 11 * 365 * 86_400}, "delay"),
        (("shop.restock", 1), {"delay": 1, "run_at": "2026-11-20T00:00:00Z"}, "delay"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_add_and_adds_nothing(
    arguments: Any, options: Any, name: str
) -> None:
    connection = sqlite3.connect(":memory:")
    outbox = Outbox()
    outbox.create_table(connection)
    with pytest.raises(BadArgument) as caught:
        outbox.add(connection, *arguments, **options)
    assert caught.value.name == name
    assert connection.execute("SELECT count(*) FROM duetime_outbox").fetchone() == (0,)


@pytest.mark.parametrize("table", ["", "a b", "x; DROP TABLE y", "a.b.c", "1a", '"x"'])
def test_name_of_a_table_is_checked(table: str) -> None:
    with pytest.raises(BadArgument, match="name of a table"):
        Outbox(table)


def test_connection_of_another_driver_is_refused() -> None:
    with pytest.raises(UnknownDatabase, match=r"sqlite3, psycopg or psycopg2, not builtins\.int"):
        Outbox().add(3, "shop.restock")  # type: ignore[arg-type]


def test_wrapped_connection_is_recognised() -> None:
    class Proxy:
        """As SQLAlchemy has it."""

        dbapi_connection = sqlite3.connect(":memory:")

    class Own(sqlite3.Connection):
        pass

    assert dialect_of(Proxy()) is dialect_of(Own(":memory:"))  # type: ignore[arg-type]


def test_ddl_creates_the_table_in_a_schema(shop: Shop, connect: Any) -> None:
    outbox = Outbox("duetime_other", clock=shop.world.clock.now)
    sqlite = isinstance(connect(), sqlite3.Connection)
    shop.execute("DROP TABLE IF EXISTS duetime_other")
    shop.execute(outbox.ddl["sqlite" if sqlite else "postgresql"])
    shop.write(lambda connection: outbox.add(connection, "shop.restock", 5))
    assert outbox.drain(connect, shop.client) == Drained(submitted=1)


def test_refused_task_is_kept_with_its_error_and_does_not_block_the_others(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    shop.add("shop.unknown", 2)
    shop.add("shop.restock", 3, priority="urgent")
    shop.add("shop.restock", 4)

    assert shop.drain() == Drained(submitted=2, refused=2)
    assert shop.tasks() == [1, 4]
    refused = shop.write(shop.outbox.refused)
    assert [json.loads(row.body)["payload"] for row in refused] == [2, 3]
    assert refused[0].error.startswith("target.handler: ")
    assert refused[1].error.startswith("priority: ")
    assert shop.drain() == Drained(), "a refused task is not sent again"

    shop.execute("UPDATE duetime_outbox SET body = replace(body, 'shop.unknown', 'shop.ship')")
    assert shop.write(shop.outbox.retry_refused) == 2
    assert shop.drain() == Drained(submitted=1, refused=1)
    assert shop.tasks() == [1, 2, 4]


def test_row_that_is_no_task_is_kept_with_its_error(shop: Shop) -> None:
    for body in ("{", "[]", "3"):
        shop.execute(f"INSERT INTO duetime_outbox (body, added_at) VALUES ('{body}', 0)")
    shop.add("shop.restock", 1)
    assert shop.drain() == Drained(submitted=1, refused=3)
    errors = {row.error for row in shop.write(shop.outbox.refused)}
    assert errors == {"body: is not a JSON object"}


def test_task_too_large_for_any_request_is_refused_alone(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    shop.add("shop.restock", "x" * (6 << 20))
    shop.add("shop.restock", 2)
    assert shop.drain() == Drained(submitted=2, refused=1)


def test_one_task_of_a_refused_request_does_not_block_the_others(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drain, "BATCH_BYTES", 100 << 20)
    for payload in (1, "x" * (6 << 20), 2):
        shop.add("shop.restock", payload)
    assert shop.drain() == Drained(submitted=2, refused=1)
    assert shop.tasks() == [1, 2]


def test_no_answer_keeps_every_task_for_the_next_drain(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    with Client("http://127.0.0.1:1", retries=0) as nowhere, pytest.raises(Unreachable):
        shop.outbox.drain(shop.connect, nowhere)
    [(_, task_id, error)] = shop.rows()
    assert (task_id is None, error) == (False, None)
    assert shop.drain() == Drained(submitted=1)
    assert [task["id"] for task in shop.client.list()] == [task_id]


class Answering:
    """A client whose batches get one prepared answer."""

    def __init__(self, status: int, **error: Any) -> None:
        self._status, self._error = status, error

    def submit_batch(self, tasks: Any) -> Any:
        if self._status == 403:
            raise ApiError(403, "Forbidden")
        return [{"status": self._status, "error": self._error} for _ in tasks]


@pytest.mark.parametrize(
    ("answer", "pause"),
    [
        (Answering(503), drain.RETRY_DELAY),
        (Answering(429), drain.RETRY_DELAY),
        (Answering(429, retry_after=3_600), 3_600 * SECOND),
    ],
)
def test_task_that_cannot_be_stored_for_now_waits(shop: Shop, answer: Any, pause: int) -> None:
    shop.add("shop.restock", 1)
    assert shop.outbox.drain(shop.connect, answer) == Drained(postponed=1)
    shop.world.advance(pause - 1)
    assert shop.drain() == Drained()
    shop.world.advance(1)
    assert shop.drain() == Drained(submitted=1)


def test_refused_credentials_change_no_row(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    with pytest.raises(ApiError, match="Forbidden"):
        shop.outbox.drain(shop.connect, Answering(403))  # type: ignore[arg-type]
    assert shop.drain() == Drained(submitted=1)


def given_id(shop: Shop, age: int) -> str:
    """Gives the first row an id, as a drain does that dies before it posts."""
    task_id = new_id(shop.world.clock.now() - age, 7)
    shop.execute(f"UPDATE duetime_outbox SET task_id = '{task_id}' WHERE task_id IS NULL")
    return task_id


def test_old_id_of_a_task_that_was_never_stored_is_replaced(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    old = given_id(shop, OLD)
    assert shop.drain() == Drained(submitted=1)
    assert shop.tasks() == [1]
    assert [task["id"] for task in shop.client.list()] != [old]


def test_old_id_of_a_stored_task_ends_its_row(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    task_id = given_id(shop, 0)
    body = json.loads(shop.execute("SELECT body FROM duetime_outbox")[0][0])
    shop.client.submit(**body, id=task_id)
    shop.world.advance(OLD)
    assert shop.drain() == Drained(submitted=1)
    assert (shop.tasks(), shop.rows()) == ([1], [])


def test_id_that_has_just_become_too_old_waits_for_requests_on_their_way(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    given_id(shop, task_models.MAX_ID_AGE + 1)
    assert shop.drain() == Drained(postponed=1)
    shop.world.advance(drain.ID_MARGIN - 2)
    assert shop.drain() == Drained()
    shop.world.advance(1)
    assert shop.drain() == Drained(submitted=1)


@pytest.mark.parametrize("difference", [-10 * MINUTE, 10 * MINUTE])
def test_clocks_that_differ_are_an_error_and_keep_every_task(shop: Shop, difference: int) -> None:
    shop.add("shop.restock", 1)
    wrong = Outbox(clock=lambda: shop.world.clock.now() + difference)
    with pytest.raises(ClocksDiffer):
        wrong.drain(shop.connect, shop.client)
    shop.world.advance(max(difference, 0) + OLD)
    assert shop.drain() == Drained(submitted=1)


def test_stored_task_that_is_no_longer_valid_ends_its_row(shop: Shop) -> None:
    """A drain dies after the post, and the task expires before the next one."""
    expires = datetime.fromtimestamp(shop.world.clock.now() / 1_000 + 2, UTC)
    shop.add("shop.restock", 1, expires_at=expires)
    task_id = given_id(shop, 0)
    body = json.loads(shop.execute("SELECT body FROM duetime_outbox")[0][0])
    shop.client.submit(**body, id=task_id)
    shop.world.advance(3 * SECOND)
    assert shop.drain() == Drained(submitted=1)


def test_body_that_was_changed_after_the_post_is_kept_with_an_error(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    task_id = given_id(shop, 0)
    shop.client.submit(target={"type": "python", "handler": "shop.ship"}, payload=9, id=task_id)
    assert shop.drain() == Drained(refused=1)
    [(_, _, error)] = shop.rows()
    assert error == f"the body was changed after task {task_id} was stored"


def test_drain_leaves_the_rows_of_another_drain_alone(shop: Shop) -> None:
    shop.add("shop.restock", 1)
    inner: list[Drained] = []

    def second_drain() -> None:
        shop.before_answer = lambda: None
        shop.add("shop.restock", 2)
        inner.append(shop.drain())

    shop.before_answer = second_drain
    assert shop.drain() == Drained(submitted=1)
    assert inner == [Drained(submitted=1)]
    assert shop.tasks() == [1, 2]


class Watched:
    """A connection that calls `after_select` once, after the first SELECT."""

    def __init__(self, inner: Any, after_select: Any) -> None:
        self.dbapi_connection, self._after_select = inner, after_select

    def cursor(self) -> Any:
        cursor, inner = SimpleNamespace(), self.dbapi_connection.cursor()

        def execute(statement: str, values: Any) -> None:
            inner.execute(statement, values)
            rows = inner.fetchall() if inner.description else []
            cursor.rowcount, cursor.fetchall = inner.rowcount, lambda: rows
            if statement.startswith("SELECT") and self._after_select:
                act, self._after_select = self._after_select, None
                act()

        cursor.execute = execute
        return cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dbapi_connection, name)


def test_rows_that_a_drain_reads_are_locked(shop: Shop, connect: Any) -> None:
    """Another drain takes the next rows on PostgreSQL, and waits on SQLite."""
    shop.write(
        lambda connection: [shop.outbox.add(connection, "shop.restock", n) for n in range(101)]
    )
    seen: list[Any] = []

    def second_drain() -> None:
        try:
            seen.append(shop.drain())
        except sqlite3.OperationalError as error:
            seen.append(str(error))

    def watched() -> Any:
        return Watched(connect(), second_drain)

    if isinstance(connect(), sqlite3.Connection):
        plain, shop.connect = shop.connect, lambda: not_waiting(plain())
    first = shop.outbox.drain(watched, shop.client)
    assert (first.submitted, seen) in [
        (100, [Drained(submitted=1)]),
        (101, ["database is locked"]),
    ]
    assert shop.tasks() == list(range(101))


def not_waiting(connection: Any) -> Any:
    connection.execute("PRAGMA busy_timeout = 0")
    return connection


def test_rows_of_another_drain_do_not_hide_those_behind_them(shop: Shop) -> None:
    shop.write(
        lambda connection: [shop.outbox.add(connection, "shop.restock", n) for n in range(101)]
    )
    claimed = shop.world.clock.now() + CLAIM
    shop.execute(f"UPDATE duetime_outbox SET claimed_until = {claimed} WHERE position <= 100")
    assert shop.drain() == Drained(submitted=1)


def test_drain_that_is_held_up_beyond_its_claim_doubles_nothing(shop: Shop) -> None:
    shop.add("shop.restock", 1)

    def hold_up() -> None:
        shop.before_answer = lambda: None
        shop.world.advance(CLAIM)
        assert shop.drain() == Drained(submitted=1)

    shop.before_answer = hold_up
    shop.drain()
    assert (shop.tasks(), shop.rows()) == ([1], [])


def test_drains_at_once_submit_every_task_once(shop: Shop) -> None:
    shop.write(
        lambda connection: [shop.outbox.add(connection, "shop.restock", n) for n in range(300)]
    )
    failures: list[BaseException] = []

    def run() -> None:
        try:
            shop.drain()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert failures == []
    assert shop.tasks() == list(range(300))
    posted = [
        task["id"]
        for request in shop.requests
        if request.method == "POST"
        for task in json.loads(request.content)["tasks"]
    ]
    assert len(posted) == len(set(posted)) == 300


@pytest.mark.parametrize("mode", ["autocommit", "rows as objects"])
def test_drain_works_with_any_mode_of_a_connection(shop: Shop, connect: Any, mode: str) -> None:
    shop.add("shop.restock", 1)
    shop.add("shop.unknown", 2)

    def other() -> Any:
        connection = connect()
        if mode == "rows as objects":
            sqlite = isinstance(connection, sqlite3.Connection)
            connection.row_factory = sqlite3.Row if sqlite else dict_row
        elif isinstance(connection, sqlite3.Connection):
            connection.isolation_level = None
        else:
            connection.autocommit = True
        return connection

    assert shop.outbox.drain(other, shop.client) == Drained(submitted=1, refused=1)
    with closing(other()) as connection:
        assert len(shop.outbox.refused(connection)) == 1


def test_limits_are_those_of_the_api() -> None:
    assert drain.MAX_ID_AGE == task_models.MAX_ID_AGE
    assert drain.BATCH == task_models.BATCH_LIMIT
    assert bodies.MAX_DELAY == task_models.MAX_AHEAD
    fields = set(task_models.TaskIn.model_fields) - {"target", "payload", "id", "trace"}
    assert fields == bodies.OPTIONS


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sqlite3 has no `autocommit` before")
def test_drain_works_with_a_connection_that_is_always_in_a_transaction(
    world: World, tmp_path: Path
) -> None:
    file = tmp_path / "shop.db"
    shop = Shop(world, lambda: sqlite3.connect(file, autocommit=False))  # type: ignore[call-arg]
    shop.add("shop.restock", 1)
    assert shop.drain() == Drained(submitted=1)
    assert shop.rows() == []
