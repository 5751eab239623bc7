"""Definitions that no run needs leave the SQLite store."""

from collections.abc import Iterator

import pytest

from duetime.core.retention import RENEWED_AFTER
from duetime.core.times import DAY
from duetime.sqlite.run_store import SqliteRunStore
from duetime.sqlite.task_store import SqliteTaskStore
from tests.factories import NOW


@pytest.fixture
def runs() -> Iterator[SqliteRunStore]:
    store = SqliteTaskStore(None)
    yield store.runs()
    store.close()


def test_definition_leaves_when_no_run_has_needed_it_for_long_enough(runs: SqliteRunStore):
    runs.put_definition("d1", "{}", NOW)
    runs.put_definition("d2", "{}", NOW + DAY)
    runs.remove_definitions(NOW + 1)

    assert runs.definitions(["d1", "d2"]) == {"d2": "{}"}


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["longer", "shorter"])
def test_definition_stays_for_the_run_that_needs_it_longest(
    runs: SqliteRunStore, order: tuple[int, ...]
):
    for times in order:
        runs.put_definition("d1", "{}", NOW + times * 2 * RENEWED_AFTER)
    runs.remove_definitions(NOW + 3 * RENEWED_AFTER)

    assert runs.definitions(["d1"]) == {"d1": "{}"}
