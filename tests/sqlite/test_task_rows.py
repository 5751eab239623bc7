"""Which columns a change of a task writes."""

from dataclasses import fields, replace

import pytest

from duetime.core.task import Task
from duetime.sqlite.task_rows import COLD, USUAL, has_rare_change
from tests.factories import a_task

WRITTEN_ANYWAY = {*COLD, *USUAL, "wake", "result"}
RARE_FIELDS = sorted({field.name for field in fields(Task)} - WRITTEN_ANYWAY)


@pytest.mark.parametrize("name", RARE_FIELDS)
def test_change_of_a_rare_field_writes_its_column(name: str):
    before = a_task()

    assert has_rare_change(before, replace(before, **{name: "another"}))


def test_change_of_usual_fields_leaves_the_rare_columns_alone():
    before = a_task()

    assert not has_rare_change(before, replace(before, attempt=7, holder="h", result="1"))
