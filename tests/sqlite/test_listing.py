"""Lists on SQLite: which index a page is read along, and how much of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from duetime.core.lifecycle import Status
from duetime.core.listings import ListOrder
from duetime.core.task import Task
from duetime.core.times import HOUR
from duetime.sqlite import listing as module
from duetime.sqlite.listing import page_ids
from duetime.sqlite.task_store import SqliteTaskStore
from tests.contract.test_list_filters import FILTERS, check_newest, check_soonest, some_tasks
from tests.contract.test_listing import flat, read_all
from tests.factories import NOW, a_listing, a_spec, a_task

PENDING = frozenset({Status.PENDING})


@pytest.fixture
def store() -> Iterator[SqliteTaskStore]:
    with closing(SqliteTaskStore(None)) as store:
        yield store


@pytest.mark.parametrize("read_limit", [4, 1_000])
def test_list_has_what_each_filter_wants(
    store: SqliteTaskStore, read_limit: int, monkeypatch: pytest.MonkeyPatch
):
    """Also if a page reads fewer rows than it may show."""
    monkeypatch.setattr(module, "READ_LIMIT", read_limit)
    tasks = some_tasks()
    store.put(tasks)
    for wanted in FILTERS:
        for limit in (3, 100):
            check_newest(store, tasks, wanted, limit)
            check_soonest(store, tasks, wanted, limit)


def test_list_of_more_namespaces_than_fit_a_statement(
    store: SqliteTaskStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_ARMS", 2)
    tasks = [a_task(spec=a_spec(namespace=f"n{n % 5}"), now=NOW - n) for n in range(20)]
    store.put(tasks)

    assert flat(read_all(store, namespace=None, limit=3)) == tasks


def plan_of(store: SqliteTaskStore, **wanted: Any) -> list[str]:
    """Returns how SQLite reads the ids of a page."""

    def explained(connection: sqlite3.Connection) -> list[str]:
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        page_ids(connection, a_listing(**wanted))
        connection.set_trace_callback(None)
        rows = connection.execute(f"EXPLAIN QUERY PLAN {seen[-1]}").fetchall()
        return [row[3] for row in rows]

    return store._database.write(explained)


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        ({}, "COVERING INDEX listing (namespace=?"),
        ({"created_since": NOW - HOUR}, "COVERING INDEX listing (namespace=?"),
        ({"name": "x"}, "INDEX listing (namespace=?"),
        ({"statuses": PENDING}, "INDEX pending (namespace=?"),
        ({"statuses": frozenset({Status.RUNNING})}, "INDEX under_way (namespace=?"),
        ({"statuses": frozenset({Status.DEAD})}, "INDEX unsuccessful (namespace=?"),
        ({"statuses": frozenset({Status.SUCCEEDED})}, "INDEX listing (namespace=?"),
        ({"handler": "h"}, "COVERING INDEX targets (namespace=? AND target=?"),
        ({"target": "http"}, "COVERING INDEX targets (namespace=? AND target=?"),
        ({"schedule_id": "s"}, "INDEX occurrences (schedule_id=?"),
        ({"parent_id": "p"}, "INDEX children (parent_id=?"),
        ({"tags": ("a:b",)}, "PRIMARY KEY (namespace=? AND tag=?"),
        ({"order": ListOrder.SOONEST}, "INDEX soonest (namespace=?"),
    ],
    ids=str,
)
def test_page_is_read_along_an_index(store: SqliteTaskStore, wanted: dict[str, Any], index: str):
    plan = plan_of(store, **wanted)

    assert any(index in step for step in plan)
    assert not any("TEMP B-TREE" in step for step in plan), "it is sorted by the index"


def test_page_is_read_along_the_index_that_reaches_furthest(
    store: SqliteTaskStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "READ_LIMIT", 5)
    tagged = [_tagged(n, "common", "rare" if n % 10 == 9 else "x") for n in range(80)]
    store.put(tagged)
    both = ("all:common", "some:rare")

    for tags in (both, both[::-1]):
        pages = read_all(store, tags=tags)
        assert flat(pages) == tagged[9::10]
        assert len(pages) == 2, "they read the eight rows of the rare tag"


def _tagged(n: int, common: str, rare: str) -> Task:
    return a_task(spec=a_spec(tags={"all": common, "some": rare}), now=NOW - n)


def test_page_reads_a_limited_number_of_rows(
    store: SqliteTaskStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "READ_LIMIT", 10)
    tasks = [a_task(spec=a_spec(name="b" if n == 35 else "a"), now=NOW - n) for n in range(40)]
    store.put(tasks)

    pages = read_all(store, name="b")

    assert [len(page) for page in pages] == [0, 0, 0, 1, 0]
    assert flat(pages) == [tasks[35]]
