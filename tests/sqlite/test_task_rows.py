"""Which columns a change of a task writes."""

import sqlite3
from dataclasses import fields, replace

import pytest

from duetime.core.lanes import Lane
from duetime.core.task import Promotion, Task
from duetime.sqlite import schema
from duetime.sqlite.bulk_sql import insert_tasks, update_tasks
from duetime.sqlite.task_rows import HOT, HOT_FIELDS, changed_row, columns_of, load, new_row
from tests.factories import NOW, a_running_task, a_task

NEVER_SET = {"id", "created_at", "body_hash"}


@pytest.fixture
def connection():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(connection)
    yield connection
    connection.close()


def test_every_field_that_a_step_may_set_has_columns():
    names = {field.name for field in fields(Task)} - NEVER_SET - {"spec"}

    assert set(HOT_FIELDS) == names
    assert columns_of(HOT_FIELDS) == HOT


@pytest.mark.parametrize("name", HOT_FIELDS)
def test_change_of_a_field_writes_its_columns_and_no_others(
    name: str, connection: sqlite3.Connection
):
    before = replace(a_task(), result='"old"', reason="old")
    after = replace(
        a_running_task(),
        id=before.id,
        result='"new"',
        reason="new",
        promoted=Promotion(lane=Lane.HIGH, at=NOW),
        cancel_requested=True,
        wake=None,
    )
    insert_tasks(connection, [new_row(connection, before)])

    update_tasks(connection, columns_of((name,)), [changed_row(connection, after, (name,))])

    [stored] = load(connection, [before.id]).values()
    assert stored == replace(before, **{name: getattr(after, name)})
