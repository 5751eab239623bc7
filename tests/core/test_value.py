"""Values are replaced as dataclasses replace them, but faster."""

import dataclasses

import pytest
from hypothesis import given

from duetime.core.change import Change, Expect
from duetime.core.lifecycle import Status, Step
from duetime.core.value import MANY_USES, replace, value
from duetime.core.workflows.definition import Definition
from tests.factories import a_task
from tests.strategies import tasks


@given(tasks())
def test_replaced_task_is_the_one_that_dataclasses_make(task):
    sets = {"status": Status.RUNNING, "attempt": 7, "reason": None}

    assert replace(task, **sets) == dataclasses.replace(task, **sets)


def test_value_that_is_replaced_stays_as_it_is():
    task = a_task(attempt=1)
    replaced = replace(task, attempt=2)

    assert (task.attempt, replaced.attempt) == (1, 2)


def test_copy_that_is_often_made_is_the_same_as_the_first():
    task = a_task()
    before = dataclasses.replace(task)

    copies = [replace(task, attempt=n, holder=str(n)) for n in range(2 * MANY_USES)]

    assert copies == [
        dataclasses.replace(task, attempt=n, holder=str(n)) for n in range(len(copies))
    ]
    assert task == before


def test_unknown_field_is_refused():
    with pytest.raises(AttributeError):
        replace(a_task(), colour="blue")


def test_value_that_checks_itself_is_not_copied_without_its_check():
    expect = Expect(statuses=frozenset({Status.RUNNING}))
    change = Change(step=Step.SUCCEED, task_id="t", expect=expect, sets={})

    with pytest.raises(TypeError, match="Change cannot be copied"):
        replace(change, step=Step.LEASE)


def test_value_with_cached_properties_is_not_copied():
    with pytest.raises(TypeError, match="Definition cannot be copied"):
        replace(Definition(steps=()), fail_fast=True)


def test_value_of_a_test_can_be_replaced():
    @value(frozen=True, kw_only=True, slots=True)
    class Point:
        x: int
        y: int = 0

    assert replace(Point(x=1), y=2) == Point(x=1, y=2)
