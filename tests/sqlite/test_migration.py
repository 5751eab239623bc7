"""A store of an earlier format is taken over, with all that is in it.

`format_1.sql` is what a runner of format 1 left behind; its head says how it was made.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from duetime.embedded import schema
from duetime.embedded.store import EmbeddedStore
from lambdas.core.change import Applied
from lambdas.core.codec import to_json
from lambdas.core.errors import DuetimeError
from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.ports import DeadListing, Listing, Reservation
from lambdas.core.rules import Rules
from lambdas.core.schedules.ports import Stands
from lambdas.core.steps.cancel import cancel
from lambdas.core.steps.record import succeed
from lambdas.core.steps.revive import revive
from lambdas.core.task import Task
from lambdas.core.times import SECOND
from tests.factories import SteppedClock, a_draw, a_schedule, a_task

FORMAT_1 = (Path(__file__).parent / "format_1.sql").read_text()
LEFT_AT = 1_794_915_192_000  # when its runner was killed
RULES = Rules(shards=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of format 1."""
    path = tmp_path / "duetime.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(FORMAT_1)
    return path


def format_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        [version] = connection.execute("PRAGMA user_version").fetchone()
        return version


def tables_of(path: Path) -> dict[str, set[str]]:
    with closing(sqlite3.connect(path)) as connection:
        return schema.columns_of(connection)


def indexes_of(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE INDEX%'")
        return {name for (name,) in rows}


def by_name(store: EmbeddedStore, namespace: str = "default") -> dict[str, Task]:
    return {str(t.spec.name): t for t in store.page(Listing(namespace=namespace)).tasks}


def test_store_of_format_1_is_what_it_says(path: Path):
    assert format_of(path) == 1
    assert "schedules" not in tables_of(path)
    assert "reason" not in tables_of(path)["tasks"]


def test_store_of_format_1_keeps_every_task_as_it_was(path: Path):
    with closing(EmbeddedStore(path)) as store:
        tasks = by_name(store)
        dead = by_name(store, "shop")["dead"]

    assert {name: task.status for name, task in tasks.items()} == {
        "succeeded": Status.SUCCEEDED,
        "long texts": Status.SUCCEEDED,
        "succeeded at the third attempt": Status.SUCCEEDED,
        "retrying": Status.RETRYING,
        "pending": Status.PENDING,
        "enqueued": Status.ENQUEUED,
        "cancelled": Status.CANCELLED,
        "slept": Status.SUCCEEDED,
        "expired": Status.EXPIRED,
        "running": Status.RUNNING,
    }
    assert dead.status is Status.DEAD
    assert dead.last_failure.error.message == "never"
    assert tasks["succeeded"].spec.tags == {"team": "growth"}
    assert tasks["long texts"].spec.payload == "p" * 5_000
    assert tasks["long texts"].result == to_json("r" * 5_000)
    assert tasks["running"].progress.message == "a quarter"
    assert {task.reason for task in tasks.values()} == {None}
    assert format_of(path) == schema.FORMAT


def test_store_of_format_1_keeps_its_attempts_keys_and_dead_letters(path: Path):
    with closing(EmbeddedStore(path)) as store:
        retried = by_name(store)["succeeded at the third attempt"]
        attempts = store.attempts(retried.id)
        wanted = Reservation(
            namespace="default", key="order-1", task_id="x", body_hash="y", expires_at=0
        )
        [standing] = store.reserve([wanted], LEFT_AT)
        letters = store.dead(DeadListing()).tasks

        assert [attempt.error.message for attempt in attempts] == ["attempt 1", "attempt 2"]
        assert standing.task_id == by_name(store)["succeeded"].id
        assert [task.spec.name for task in letters] == ["dead"]


def test_store_of_format_1_goes_on_where_its_runner_was_killed(path: Path):
    now = LEFT_AT + SECOND
    with closing(EmbeddedStore(path)) as store:
        tasks = by_name(store)
        assert store.recover(RULES, now) == 2  # enqueued, running

        [running] = store.get([tasks["running"].id]).values()
        assert running.lease_until <= now
        pending, running = tasks["pending"], store.get([running.id])[running.id]
        dead = by_name(store, "shop")["dead"]
        answers = store.apply(
            [
                cancel(pending, now=now),
                revive(RULES, dead, now=now, draw=a_draw()),
                succeed(running, result="1", now=now),
            ]
        )

    assert [type(answer) for answer in answers] == [Applied] * 3
    with closing(EmbeddedStore(path)) as store:
        assert by_name(store)["running"].current.outcome is Outcome.SUCCEEDED
        assert by_name(store)["pending"].status is Status.CANCELLED


def test_store_of_format_1_takes_schedules_from_then_on(path: Path):
    schedule, cancelled = a_schedule(), a_task(reason="overlap")
    for _ in range(2):
        with closing(EmbeddedStore(path)) as store:
            schedules = store.schedules(SteppedClock())
            assert schedules.put([schedule]) == [Stands(schedule)]
            store.put([cancelled])
            assert schedules.get([schedule.id]) == {schedule.id: schedule}
            assert store.get([cancelled.id])[cancelled.id].reason == "overlap"


def test_migrated_store_has_the_tables_and_indexes_of_a_new_one(path: Path, tmp_path: Path):
    new = tmp_path / "new.db"
    for each in (path, new):
        EmbeddedStore(each).close()

    assert tables_of(path) == tables_of(new)
    assert indexes_of(path) == indexes_of(new)


def test_migration_that_is_cut_off_leaves_the_old_format(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = tables_of(path)
    with monkeypatch.context() as patch:
        patch.setitem(
            schema.MIGRATIONS, 1, schema.MIGRATIONS[1] + "INSERT INTO nowhere VALUES (1);"
        )
        with pytest.raises(DuetimeError, match="nowhere"):
            EmbeddedStore(path)

    assert (format_of(path), tables_of(path)) == (1, before)
    with closing(EmbeddedStore(path)) as store:
        assert len(by_name(store)) == 10


@pytest.mark.parametrize("version", [0, schema.FORMAT + 1, 99])
def test_store_of_any_other_format_is_refused_and_left_alone(path: Path, version: int):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = tables_of(path)

    with pytest.raises(DuetimeError, match=f"format {version}"):
        EmbeddedStore(path)
    assert (format_of(path), tables_of(path)) == (version, before)


def test_index_that_a_store_lacks_is_made(path: Path):
    EmbeddedStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX occurrences")

    EmbeddedStore(path).close()

    assert "occurrences" in indexes_of(path)
