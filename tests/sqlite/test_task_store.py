"""SQLite's task store beyond the contract: its cache of live tasks, its listener, its file."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from duetime.core.change import Applied, Change, Unknown
from duetime.core.codec import encode_spec
from duetime.core.dead_letters import Death
from duetime.core.errors import Corrupt
from duetime.core.events import StatusChange
from duetime.core.lifecycle import Outcome, Status
from duetime.core.listings import DeadListing
from duetime.core.steps.cancel import cancel
from duetime.core.steps.claim import claim
from duetime.core.steps.defer import Deferral, defer
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.steps.remove import Removal
from duetime.core.task import Task, TaskError
from duetime.core.times import HOUR
from duetime.core.wakes import minute_of, shard_of
from duetime.sqlite import task_writes as module
from duetime.sqlite.dead_letters import read_deaths
from duetime.sqlite.task_store import SqliteTaskStore
from duetime.sqlite.wake_index import read_few
from tests.factories import (
    NOW,
    WAKE_POLICY,
    a_draw,
    a_listing,
    a_running_task,
    a_sent_task,
    a_spec,
    a_task,
)


class Listened(SqliteTaskStore):
    def __init__(self) -> None:
        self.heard: list[StatusChange] = []
        super().__init__(None, self.heard.extend)


@pytest.fixture
def store():
    store = Listened()
    yield store
    store.close()


def fail_next_update(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def update_tasks(connection, columns, rows):
        monkeypatch.undo()
        raise error

    monkeypatch.setattr(module, "update_tasks", update_tasks)


def test_a_rollback_clears_the_cache(store: Listened, monkeypatch: pytest.MonkeyPatch):
    task = a_task()
    store.put([task])
    store.heard.clear()
    change = claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw())
    fail_next_update(monkeypatch, sqlite3.OperationalError("database or disk is full"))

    [answer] = store.apply([change])
    assert isinstance(answer, Unknown)
    assert (store.get([task.id])[task.id], store.heard) == (task, [])

    [answer] = store.apply([change])
    assert isinstance(answer, Applied)
    assert store.get([task.id]) == {task.id: answer.stored}
    assert [heard.after for heard in store.heard] == [Status.ENQUEUED]


def test_an_unexpected_error_of_a_write_is_raised_and_rolled_back(
    store: Listened, monkeypatch: pytest.MonkeyPatch
):
    task = a_sent_task()
    store.put([task])
    fail_next_update(monkeypatch, ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        store.apply([cancel(task, now=NOW)])
    assert store.get([task.id]) == {task.id: task}


def test_listeners_hear_of_every_status_once_and_in_order(store: Listened):
    first, second = a_task(), a_running_task()
    store.put([first, second])
    store.apply([cancel(first, now=NOW), cancel(first, now=NOW)])
    store.apply([succeed(second, result="1", now=NOW)])

    assert [(c.task_id, c.before, c.after) for c in store.heard] == [
        (first.id, None, Status.PENDING),
        (second.id, None, Status.RUNNING),
        (first.id, Status.PENDING, Status.CANCELLED),
        (second.id, Status.RUNNING, Status.SUCCEEDED),
    ]


def test_more_live_tasks_than_the_cache_holds(store: Listened, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LIVE_CACHE_SIZE", 2)
    tasks = [a_task() for _ in range(5)]
    store.put(tasks)

    answers = store.apply([cancel(task, now=NOW) for task in tasks])

    assert [answer.stored.status for answer in answers] == [Status.CANCELLED] * 5
    assert store._writes.live == {}


def a_dead_task(died_at: int = NOW, **error: str) -> Task:
    task = a_running_task()
    failure = Failure(
        outcome=Outcome.FAILED,
        error=TaskError(type="ValueError", message="no", **error),
        permanent=True,
    )
    return fail(WAKE_POLICY, task, failure, now=died_at, draw=a_draw()).applied_to(task)


def test_a_store_of_an_earlier_version_is_taken_over(tmp_path: Path):
    """It had no index of dead tasks, and its errors had no traceback."""
    path = tmp_path / "duetime.db"
    earlier, later = a_dead_task(NOW), a_dead_task(NOW + 1, traceback="File 'a.py'")
    with closing(SqliteTaskStore(path)) as store:
        store.put([earlier])
    with closing(sqlite3.connect(path)) as connection:
        [text] = connection.execute("SELECT current FROM tasks").fetchone()
        connection.execute("DROP INDEX dead")

    with closing(SqliteTaskStore(path)) as store:
        store.put([later])
        assert store.dead(DeadListing()).tasks == [later, earlier]
    assert text.endswith(',failed,["ValueError","no"]'), "as the earlier version wrote it"
    assert "dead" in indexes(path)


def indexes(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")
        return {name for (name,) in rows}


def test_a_span_of_deaths_is_found_by_their_index_alone(tmp_path: Path):
    path = tmp_path / "duetime.db"
    with closing(SqliteTaskStore(path)) as store:
        store.put([a_dead_task(), a_task()])
    with closing(sqlite3.connect(path)) as connection:
        asked: list[str] = []
        connection.set_trace_callback(asked.append)
        read_deaths(connection, Death(NOW + 1, ""), Death(NOW - 1, ""), 10)
        connection.set_trace_callback(None)
        [plan] = connection.execute(f"EXPLAIN QUERY PLAN {asked[0]}").fetchall()

    assert plan[3].startswith("SEARCH")
    assert "INDEX dead (updated_at>? AND (updated_at,id)<" in plan[3], "and sorted by it"


def test_an_unreadable_wake_does_not_delay_the_others(store: SqliteTaskStore):
    tasks = [a_running_task() for _ in range(2)]
    store.put(tasks)
    store._database.write(
        lambda c: c.execute("UPDATE tasks SET wake_key = '?' WHERE id = ?", (tasks[0].id,))
    )
    wake = tasks[1].wake

    assert store.few_wakes(2) == [wake]
    assert list(store.wakes(minute_of(wake.at), shard_of(wake.task_id, WAKE_POLICY.shards))) == [
        wake
    ]


def test_few_wakes_reads_only_the_indexes(store: SqliteTaskStore):
    def asked(connection: sqlite3.Connection) -> list[str]:
        statements: list[str] = []
        connection.set_trace_callback(statements.append)
        read_few(connection, 500)
        connection.set_trace_callback(None)
        return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statements[0]}")]

    merged, *steps = store._database.write(asked)
    assert merged == "MERGE (UNION ALL)", "nothing is sorted"
    read = [step for step in steps if step.startswith(("SCAN", "SEARCH"))]
    assert len(read) == 4
    assert all("USING COVERING INDEX" in step for step in read)


def parts_in_bodies(store: SqliteTaskStore) -> list[str]:
    with store._database.read() as connection:
        return [part for (part,) in connection.execute("SELECT part FROM bodies")]


def with_payload(task: Task, payload: str) -> Change:
    wanted = Deferral(spec=replace(task.spec, payload=payload), due_at=task.due_at)
    return defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())


def test_a_replaced_spec_leaves_no_text_behind(store: Listened):
    task = a_task()
    store.put([task])

    [long] = store.apply([with_payload(task, "x" * 3_000)])
    assert (parts_in_bodies(store), task.id in store._writes.live) == (["spec"], False)

    [short] = store.apply([with_payload(long.stored, "short")])
    assert parts_in_bodies(store) == []
    assert store.get([task.id]) == {task.id: short.stored}


def test_a_changed_task_is_announced_if_its_status_changes(store: Listened):
    task = a_sent_task()
    store.put([task])
    store.heard.clear()
    later = Deferral(spec=task.spec, due_at=NOW + HOUR)

    [changed] = store.apply([with_payload(task, "new")])
    store.apply([defer(WAKE_POLICY, changed.stored, later, now=NOW, draw=a_draw())])

    assert [(c.before, c.after) for c in store.heard] == [(Status.ENQUEUED, Status.PENDING)]


def test_a_removed_task_leaves_no_row_in_any_table(store: Listened):
    spec = a_spec(payload="p" * 5_000, tags={"team": "growth"})
    task = cancel(made := a_task(spec=spec), now=NOW).applied_to(made)
    store.put([task])

    assert store.remove([Removal(task)]) == [Applied(task)]

    with store._database.read() as connection:
        for table in ("tasks", "bodies", "attempts", "keys", "tags"):
            rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert rows == (0,), table


def test_long_texts_are_stored_compressed(store: SqliteTaskStore):
    long = a_task(spec=a_spec(payload="x" * 9_000))
    store.put([long])

    with store._database.read() as connection:
        [body] = connection.execute("SELECT typeof(body), length(body) FROM bodies").fetchall()
    assert (body[0], body[1] < 300) == ("blob", True)
    assert store.get([long.id]) == {long.id: long}


def test_text_of_an_earlier_version_is_read_as_it_is(store: SqliteTaskStore):
    task = a_task(spec=a_spec(payload="x" * 9_000))
    store.put([task])
    text = encode_spec(task.spec)
    store._database.write(lambda c: c.execute("UPDATE bodies SET body = ?", (text,)))

    assert store.get([task.id]) == {task.id: task}


def test_text_that_cannot_be_inflated_makes_its_task_unreadable(store: SqliteTaskStore):
    task = a_task(spec=a_spec(payload="x" * 9_000))
    store.put([task])
    store._database.write(lambda c: c.execute("UPDATE bodies SET body = x'00'"))

    with pytest.raises(Corrupt):
        store.get([task.id])
    assert store.page(a_listing()).tasks == []
