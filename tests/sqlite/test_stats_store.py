"""What is special to statistics in SQLite: old rows leave, and no write waits for the disk."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from duetime.core.lanes import Lane
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.stats.ports import HOURS_KEPT, MINUTES_KEPT
from duetime.core.times import HOUR, MINUTE, Millis
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW

START = NOW // HOUR * HOUR


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(tmp_path / "duetime.db")) as store:
        yield store


def counted(store: SqliteTaskStore, start: Millis) -> None:
    store.stats().add([LaneCounts(start=start, lane=Lane.LOW, counts=Counts({"fast": 1}))])


def starts(rows: Any) -> list[Millis]:
    return [row.start for row in rows]


def test_minutes_leave_after_8_days_and_hours_after_90(store: SqliteTaskStore):
    ages = [HOURS_KEPT + HOUR, HOURS_KEPT, MINUTES_KEPT + HOUR, MINUTES_KEPT]
    kept = [START - age for age in ages]
    for start in (*kept, START, START + MINUTE):
        counted(store, start)
    stats = store.stats()

    assert starts(stats.hours(0, START + HOUR).rows) == [*kept[1:], START]
    assert starts(stats.minutes(0, START + HOUR).rows) == [kept[3], START, START + MINUTE]


def test_counts_do_not_wait_for_the_disk(store: SqliteTaskStore):
    waits: list[bool] = []
    write = store._database.write

    def noted(action: Callable[..., Any], *, durable: bool = True) -> Any:
        waits.append(durable)
        return write(action, durable=durable)

    store._database.write = noted  # type: ignore[method-assign]
    counted(store, START)

    assert waits == [False]
