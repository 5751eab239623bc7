"""SQLite's schedule store beyond the contract: few statements for many schedules, and a ledger that
does not grow without limit."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from duetime.core.change import Applied, Unknown
from duetime.core.schedules.ledger import LEDGER_RETENTION, LedgerOutcome, LedgerRow
from duetime.sqlite import ledger_rows as module
from duetime.sqlite.bulk_sql import chunks
from duetime.sqlite.listing import page_ids
from duetime.sqlite.schedule_store import SqliteScheduleStore
from duetime.sqlite.task_store import SqliteTaskStore
from tests.contract.test_schedules import advanced, replanned
from tests.factories import NOW, SteppedClock, a_listing, a_schedule, a_spec, an_id

LONG = "p" * 200_000


@pytest.fixture
def store() -> Iterator[SqliteTaskStore]:
    store = SqliteTaskStore(None)
    yield store
    store.close()


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def schedules(store: SqliteTaskStore, clock: SteppedClock) -> SqliteScheduleStore:
    return store.schedules(clock)


def statements(store: SqliteTaskStore, action: Callable[[], object]) -> list[str]:
    """Returns the statements, without those of the transaction."""
    asked: list[str] = []
    connection = store._database._writer
    connection.set_trace_callback(asked.append)
    action()
    connection.set_trace_callback(None)
    return [sql for sql in asked if sql not in ("BEGIN IMMEDIATE", "COMMIT")]


def row_count(store: SqliteTaskStore, table: str) -> int:
    with store._database.read() as connection:
        [count] = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return count


def a_row(schedule_id: str, at: int = NOW) -> LedgerRow:
    return LedgerRow(
        schedule_id=schedule_id,
        fire_time=at,
        version=1,
        outcome=LedgerOutcome.FIRED,
        task_id=an_id(),
    )


@pytest.mark.parametrize("payload", [None, LONG], ids=["short", "long"])
def test_a_hundred_schedules_are_put_with_a_few_statements(
    store: SqliteTaskStore, schedules: SqliteScheduleStore, payload: object
):
    few = 1 + len(list(chunks(100)))
    some = [a_schedule(task=a_spec(payload=payload)) for _ in range(100)]
    made = statements(store, lambda: schedules.put(some))
    assert len(made) == few + (100 if payload else 0), "a long plan is a row of its own"

    stepped = [advanced(schedule) for schedule in some]
    assert len(statements(store, lambda: schedules.put(stepped))) == few
    ids = [schedule.id for schedule in some]
    assert len(statements(store, lambda: schedules.get(ids))) == 1, "nothing changes meanwhile"
    entries = [a_row(schedule.id) for schedule in some]
    assert len(statements(store, lambda: schedules.write_ledger(entries, NOW))) == few


def test_a_step_neither_reads_nor_writes_a_long_plan(
    store: SqliteTaskStore, schedules: SqliteScheduleStore
):
    schedule = a_schedule(task=a_spec(payload=LONG))
    schedules.put([schedule])

    asked = statements(store, lambda: schedules.put([advanced(schedule)]))

    assert [sql for sql in asked if "bodies" in sql] == []
    assert max(map(len, asked)) < 2_000


def test_a_long_plan_that_is_replaced_or_deleted_leaves_nothing(
    store: SqliteTaskStore, schedules: SqliteScheduleStore
):
    one, other = (a_schedule(task=a_spec(payload=LONG)) for _ in range(2))
    schedules.put([one, other])
    assert row_count(store, "bodies") == 2

    schedules.put([replanned(one, None)])
    schedules.delete(other.id)

    assert row_count(store, "bodies") == 0


def test_of_one_schedule_several_steps_in_a_batch(schedules: SqliteScheduleStore):
    first = a_schedule()
    steps = [first, replanned(first, LONG)]
    steps += [advanced(steps[-1])]
    steps += [replanned(steps[-1], "short")]

    assert schedules.put(steps) == [Applied(step) for step in steps]
    assert schedules.get([first.id]) == {first.id: steps[-1]}


def test_a_disk_without_room_leaves_the_answer_open(
    schedules: SqliteScheduleStore, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    schedule = a_schedule()
    with monkeypatch.context() as patch:
        patch.setattr("duetime.sqlite.revised_rows.put_rows", full)
        assert schedules.put([schedule, schedule]) == [Unknown("database or disk is full")] * 2
    assert schedules.get([schedule.id]) == {}


def test_a_ledger_write_deletes_expired_entries(
    store: SqliteTaskStore, schedules: SqliteScheduleStore
):
    one = an_id()
    schedules.write_ledger([a_row(one, NOW + n) for n in range(10)], NOW)
    later = NOW + 10 + LEDGER_RETENTION

    schedules.write_ledger([a_row(one, later)], later)
    assert row_count(store, "ledger") == 10 - 2 + 1, "twice as fast as it grows, and no faster"

    schedules.write_ledger([a_row(one, later + n) for n in range(1, 9)], later)
    assert row_count(store, "ledger") == 9
    assert len(schedules.ledger(one, None, 50).entries) == 9


def test_a_long_ledger_is_deleted_in_several_commits(
    store: SqliteTaskStore, schedules: SqliteScheduleStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "DELETE_BATCH", 4)
    one, other = an_id(), an_id()
    schedules.write_ledger([a_row(one, NOW + n) for n in range(10)] + [a_row(other)], NOW)

    asked = statements(store, lambda: schedules.delete(one))

    assert len([sql for sql in asked if sql.startswith("DELETE FROM ledger")]) == 3
    assert row_count(store, "ledger") == 1


def test_the_occurrences_of_a_schedule_are_found_by_their_index(store: SqliteTaskStore):
    def asked(connection: sqlite3.Connection) -> str:
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        page_ids(connection, a_listing(schedule_id=an_id()))
        connection.set_trace_callback(None)
        steps = connection.execute(f"EXPLAIN QUERY PLAN {seen[0]}").fetchall()
        return " ".join(step[3] for step in steps)

    plan = store._database.write(asked)
    assert "USING INDEX occurrences (schedule_id=? AND (day,id)>(?,?) AND (day,id)<(?,?))" in plan


def test_a_schedule_as_it_was_read_steps_on(schedules: SqliteScheduleStore):
    """What was read is what was written, so that nothing seems to have changed."""
    schedule = a_schedule(task=a_spec(payload={"list": [1, 2.0, None]}))
    schedules.put([schedule])
    [read] = schedules.get([schedule.id]).values()
    stepped = replace(read, revision=2)

    assert schedules.put([stepped]) == [Applied(stepped)]
