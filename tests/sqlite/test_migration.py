"""Stores written by earlier versions: they open, keep everything and go on.

`format_1.sql` and `format_2.sql` are what runners of these formats left; the head of each file
says how it was made.
"""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from duetime.core.change import Applied
from duetime.core.codec import from_json, to_json
from duetime.core.errors import DuetimeError
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import Limit
from duetime.core.listings import DeadListing, EndedListing
from duetime.core.ports import Reservation, UniqueKey
from duetime.core.schedules.ports import ScheduleListing, ScheduleStore
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.steps.cancel import cancel
from duetime.core.steps.record import succeed
from duetime.core.steps.revive import revive
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import Promotion, Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import DAY, HOUR, MINUTE, SECOND
from duetime.core.wake_policy import WakePolicy
from duetime.sqlite import schema
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW, SteppedClock, a_draw, a_listing, a_run, a_schedule, a_spec, a_task
from tests.world import sqlite_world

FORMAT_1 = (Path(__file__).parent / "format_1.sql").read_text()
FORMAT_2 = (Path(__file__).parent / "format_2.sql").read_text()
BEFORE_STATS = "DROP TABLE stats; "
BEFORE_WORKFLOWS = (
    BEFORE_STATS
    + "".join(
        f"DROP TABLE {name}; " for name in ("runs", "definitions", "workflows", "workflow_versions")
    )
    + "ALTER TABLE tasks DROP COLUMN suspended; DROP INDEX ended;"
    " CREATE INDEX ended ON tasks ((schedule_id IS NOT NULL), updated_at, id)"
    " WHERE status IN ('SUCCEEDED', 'CANCELLED', 'EXPIRED') AND wake_bucket IS NULL; "
)
BEFORE_LIMITS = (
    BEFORE_WORKFLOWS
    + "".join(f"DROP TABLE {name}; " for name in ("limits", "rates", "slots", "places", "lines"))
    + "".join(
        f"ALTER TABLE tasks DROP COLUMN {name}; " for name in ("promoted", "held", "grant_at")
    )
)
LEFT_AT = 1_794_915_192_000  # when the runner of format 1 was killed
STOPPED_AT = 1_794_940_930_027  # the last write of the runner of format 2
WAKE_POLICY = WakePolicy(shards=1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of format 1."""
    return written(tmp_path / "duetime.db", FORMAT_1)


@pytest.fixture
def format_2(tmp_path: Path) -> Path:
    return written(tmp_path / "format-2.db", FORMAT_2)


def written(path: Path, script: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(script)
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


def by_name(store: SqliteTaskStore, namespace: str = "default") -> dict[str, Task]:
    return {
        str(t.spec.name): t for t in store.page(a_listing(namespace=namespace, limit=200)).tasks
    }


def all_tasks(store: SqliteTaskStore) -> list[Task]:
    pages = [store.page(a_listing(namespace=name, limit=1_000)) for name in ("default", "shop")]
    return [task for page in pages for task in page.tasks]


def all_schedules(schedules: ScheduleStore) -> list[Schedule]:
    pages = [schedules.page(ScheduleListing(namespace=name)) for name in ("default", "shop")]
    return [schedule for page in pages for schedule in page.schedules]


def test_store_of_format_1_is_what_it_says(path: Path):
    assert format_of(path) == 1
    assert "schedules" not in tables_of(path)
    assert "reason" not in tables_of(path)["tasks"]


def test_store_of_format_1_keeps_every_task_as_it_was(path: Path):
    with closing(SqliteTaskStore(path)) as store:
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
    with closing(SqliteTaskStore(path)) as store:
        retried = by_name(store)["succeeded at the third attempt"]
        attempts = store.attempts(retried.id)
        wanted = Reservation(
            namespace="default", key="order-1", task_id="x", body_hash="y", expires_at=0
        )
        [reserved] = store.reserve([wanted], LEFT_AT)
        letters = store.dead(DeadListing()).tasks

        assert [attempt.error.message for attempt in attempts] == ["attempt 1", "attempt 2"]
        assert reserved.task_id == by_name(store)["succeeded"].id
        assert [task.spec.name for task in letters] == ["dead"]


def test_store_of_format_1_goes_on_where_its_runner_was_killed(path: Path):
    now = LEFT_AT + SECOND
    with closing(SqliteTaskStore(path)) as store:
        tasks = by_name(store)
        assert store.recover(WAKE_POLICY, now) == 2  # enqueued, running

        [running] = store.get([tasks["running"].id]).values()
        assert running.lease_until <= now
        pending, running = tasks["pending"], store.get([running.id])[running.id]
        dead = by_name(store, "shop")["dead"]
        answers = store.apply(
            [
                cancel(pending, now=now),
                revive(WAKE_POLICY, dead, now=now, draw=a_draw()),
                succeed(running, result="1", now=now),
            ]
        )

    assert [type(answer) for answer in answers] == [Applied] * 3
    with closing(SqliteTaskStore(path)) as store:
        assert by_name(store)["running"].current.outcome is Outcome.SUCCEEDED
        assert by_name(store)["pending"].status is Status.CANCELLED


def test_store_of_format_1_takes_schedules_from_then_on(path: Path):
    schedule, cancelled = a_schedule(), a_task(reason="overlap")
    for _ in range(2):
        with closing(SqliteTaskStore(path)) as store:
            schedules = store.schedules(SteppedClock())
            assert schedules.put([schedule]) == [Applied(schedule)]
            store.put([cancelled])
            assert schedules.get([schedule.id]) == {schedule.id: schedule}
            assert store.get([cancelled.id])[cancelled.id].reason == "overlap"


def test_store_of_format_2_keeps_every_task_and_its_attempts(format_2: Path):
    assert format_of(format_2) == 2
    with closing(SqliteTaskStore(format_2)) as store:
        tasks = all_tasks(store)
        named = by_name(store)
        attempts = store.attempts(named["succeeded at the third attempt"].id)
        letters = store.dead(DeadListing()).tasks

    assert Counter(task.status for task in tasks) == {
        Status.CANCELLED: 20,
        Status.DEAD: 8,
        Status.ENQUEUED: 36,
        Status.EXPIRED: 1,
        Status.PENDING: 3,
        Status.RETRYING: 2,
        Status.SUCCEEDED: 21,
    }
    assert {task.id for task in letters} == {t.id for t in tasks if t.status is Status.DEAD}
    assert [attempt.error.message for attempt in attempts] == ["attempt 1", "attempt 2"]
    assert named["revived"].attempt == 2
    assert len(named["long texts"].spec.payload) == len(from_json(named["long texts"].result))


@pytest.mark.parametrize("script", [FORMAT_1, FORMAT_2], ids=["format 1", "format 2"])
def test_migrated_store_finds_its_tasks_by_every_filter(tmp_path: Path, script: str):
    old = written(tmp_path / "old.db", script)
    with closing(SqliteTaskStore(old)) as store:
        tasks = store.page(a_listing(namespace=None, limit=1_000)).tasks
        for wanted in (
            {"tags": ("team:growth",)},
            {"tags": ("team",)},
            {"name": "succeeded"},
            {"name": "long"},
            {"target": "http"},
            {"target": "python"},
            {"handler": str(tasks[0].spec.target["handler"])},
            {"statuses": frozenset({Status.PENDING, Status.DEAD})},
            {"created_since": tasks[3].created_at},
        ):
            found = store.page(a_listing(namespace=None, limit=1_000, **wanted)).tasks
            expected = [t for t in tasks if TaskFilter(namespace=None, **wanted).wants(t)]
            assert found == expected, wanted
            assert found or wanted == {"target": "http"}


def test_store_of_format_2_takes_unique_and_client_made_ids_from_then_on(format_2: Path):
    key = UniqueKey(namespace="default", key="k", task_id="a")
    task = a_task(body_hash="0123456789abcdef")
    for _ in range(2):
        with closing(SqliteTaskStore(format_2)) as store:
            assert {old.body_hash for old in all_tasks(store) if old.id != task.id} == {None}
            store.put([task])
            assert store.get([task.id]) == {task.id: task}
            assert store.take_keys([key]) == ["a"]
    assert format_of(format_2) == schema.FORMAT


def test_store_of_format_3_lists_children_from_then_on(tmp_path: Path):
    path = tmp_path / "format-3.db"
    old, parent = a_task(), a_task()
    with closing(SqliteTaskStore(path)) as store:
        store.put([old])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "DROP INDEX children; ALTER TABLE tasks DROP COLUMN parent_id;"
            f"{BEFORE_LIMITS} PRAGMA user_version = 3"
        )
    child = a_task(spec=a_spec(parent_id=parent.id))

    with closing(SqliteTaskStore(path)) as store:
        store.put([child])
        assert store.get([old.id, child.id]) == {old.id: old, child.id: child}
        page = store.page(a_listing(parent_id=parent.id))
    assert list(page.tasks) == [child]
    assert format_of(path) == schema.FORMAT
    assert "children" in indexes_of(path)


def test_store_of_format_4_promotes_and_limits_from_then_on(tmp_path: Path):
    path = tmp_path / "format-4.db"
    old = a_task()
    with closing(SqliteTaskStore(path)) as store:
        store.put([old])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{BEFORE_LIMITS} PRAGMA user_version = 4")
    promoted = Promotion(lane=Lane.HIGH, at=NOW)
    new = a_task(promoted=promoted, held=0, grant=NOW)

    with closing(SqliteTaskStore(path)) as store:
        store.put([new])
        limit = store.limits().put(Limit(namespace="default", name="stripe", concurrency=1))
    with closing(SqliteTaskStore(path)) as store:
        assert store.limits().get("default", ["stripe"]) == {"stripe": limit}
        assert store.get([old.id, new.id]) == {old.id: old, new.id: new}
    assert format_of(path) == schema.FORMAT


def test_store_of_format_5_keeps_runs_and_removes_its_old_tasks_from_then_on(tmp_path: Path):
    path = tmp_path / "format-5.db"
    old = a_task(status=Status.SUCCEEDED, wake=None, updated_at=NOW)
    with closing(SqliteTaskStore(path)) as store:
        store.put([old])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{BEFORE_WORKFLOWS} PRAGMA user_version = 5")
    run, suspended = a_run(), a_task(suspended=Suspension(kind=WaitsFor.RUN, id="r"))

    with closing(SqliteTaskStore(path)) as store:
        store.put([suspended])
        store.runs().put([run])
    with closing(SqliteTaskStore(path)) as store:
        assert store.runs().get([run.id]) == {run.id: run}
        assert store.get([old.id, suspended.id]) == {old.id: old, suspended.id: suspended}
        assert list(store.ended(EndedListing(as_of=NOW + DAY, kept_for=0)).tasks) == [old]
    assert format_of(path) == schema.FORMAT


def test_store_of_format_6_keeps_statistics_from_then_on(tmp_path: Path):
    path = tmp_path / "format-6.db"
    old = a_task()
    with closing(SqliteTaskStore(path)) as store:
        store.put([old])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(f"{BEFORE_STATS} PRAGMA user_version = 6")
    row = LaneCounts(start=0, lane=Lane.HIGH, counts=Counts({"succeeded": 1}))

    with closing(SqliteTaskStore(path)) as store:
        store.stats().add([row])
    with closing(SqliteTaskStore(path)) as store:
        assert store.stats().minutes(0, MINUTE).rows == [row]
        assert store.get([old.id]) == {old.id: old}
    assert format_of(path) == schema.FORMAT


def test_store_of_format_2_keeps_its_schedules_and_ledgers(format_2: Path):
    with closing(SqliteTaskStore(format_2)) as store:
        schedules = store.schedules(SteppedClock(STOPPED_AT))
        found = all_schedules(schedules)
        entries = {s.plan.name: len(schedules.ledger(s.id, None, 100).entries) for s in found}

    assert Counter(schedule.status for schedule in found) == {
        ScheduleStatus.ACTIVE: 6,
        ScheduleStatus.PAUSED: 2,
        ScheduleStatus.FINISHED: 1,
    }
    assert entries == {
        "cron": 5,
        "rate": 10,
        "rate that skips what it missed": 14,
        "delay": 6,
        "paused": 5,
        "paused and resumed": 9,
        "finished": 2,
        "paused by its failures": 9,
        "changed": 4,
    }


def test_store_of_format_2_runs_its_unfinished_tasks_to_an_outcome(format_2: Path):
    clock = SteppedClock(STOPPED_AT + SECOND)
    with sqlite_world(format_2, clock) as world:
        store, schedules = world.store.port, world.schedules.port
        unfinished = [task.id for task in all_tasks(store) if not task.status.finished]
        named = by_name(store)
        assert store.recover(WAKE_POLICY, clock.now()) == 36  # the enqueued tasks
        world.live(HOUR)
        assert world.status(named["enqueued"].id) is Status.SUCCEEDED
        assert world.status(named["delayed by an hour"].id) is Status.SUCCEEDED

        for schedule in all_schedules(schedules):
            schedules.delete(schedule.id)
        world.advance_to(named["snoozed"].due_at)
        world.live(2 * MINUTE)
        due_in_2036 = [named["pending"], named["pending http"]]
        store.apply([cancel(task, now=clock.now()) for task in due_in_2036])

        outcomes = Counter(task.status for task in store.get(unfinished).values())
    assert len(unfinished) == 41
    assert outcomes == {Status.SUCCEEDED: 16, Status.CANCELLED: 25}  # 23 by their schedules


@pytest.mark.parametrize("script", [FORMAT_1, FORMAT_2], ids=["format 1", "format 2"])
def test_migrated_store_has_the_tables_and_indexes_of_a_new_one(script: str, tmp_path: Path):
    old, new = written(tmp_path / "old.db", script), tmp_path / "new.db"
    for each in (old, new):
        SqliteTaskStore(each).close()

    assert tables_of(old) == tables_of(new)
    assert indexes_of(old) == indexes_of(new)


def test_migration_that_is_cut_off_leaves_the_old_format(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = tables_of(path)
    with monkeypatch.context() as patch:
        patch.setitem(
            schema.MIGRATIONS, 1, schema.MIGRATIONS[1] + "INSERT INTO nowhere VALUES (1);"
        )
        with pytest.raises(DuetimeError, match="nowhere"):
            SqliteTaskStore(path)

    assert (format_of(path), tables_of(path)) == (1, before)
    with closing(SqliteTaskStore(path)) as store:
        assert len(by_name(store)) == 10


@pytest.mark.parametrize("version", [0, schema.FORMAT + 1, 99])
def test_store_of_any_other_format_is_refused_and_left_alone(path: Path, version: int):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = tables_of(path)

    with pytest.raises(DuetimeError, match=f"format {version}"):
        SqliteTaskStore(path)
    assert (format_of(path), tables_of(path)) == (version, before)


def test_index_that_a_store_lacks_is_made(path: Path):
    SqliteTaskStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX occurrences")

    SqliteTaskStore(path).close()

    assert "occurrences" in indexes_of(path)
