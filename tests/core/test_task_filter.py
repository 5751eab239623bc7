from dataclasses import replace
from typing import Any

import pytest

from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.task_filter import TaskFilter
from duetime.core.times import HOUR
from tests.factories import NOW, a_spec, a_task

TASK = replace(
    a_task(
        spec=a_spec(
            target={"type": "python", "handler": "shop.restock"},
            namespace="shop",
            name="restock salt",
            tags={"team": "growth", "a:b": "c"},
            occurrence=Occurrence(schedule_id="nightly", scheduled_for=NOW, version=1),
        ),
        now=NOW,
    ),
    status=Status.RETRYING,
)
HTTP = a_task(spec=a_spec(target={"type": "http", "url": "https://a.example/", "handler": "x"}))


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        ({}, False),  # the namespace `default`
        ({"namespace": None}, True),
        ({"namespace": "shop"}, True),
        ({"statuses": frozenset({Status.RETRYING, Status.DEAD})}, True),
        ({"statuses": frozenset({Status.DEAD})}, False),
        ({"schedule_id": "nightly"}, True),
        ({"schedule_id": "daily"}, False),
        ({"tags": ("team",)}, True),
        ({"tags": ("team:growth", "a:b:c", "a:b")}, True),
        ({"tags": ("team:growth", "team:ops")}, False),
        ({"tags": ("growth",)}, False),
        ({"tags": ("a",)}, False),
        ({"name": "restock"}, True),
        ({"name": "salt"}, False),
        ({"name": "Restock"}, False),
        ({"handler": "shop.restock"}, True),
        ({"handler": "shop"}, False),
        ({"target": "python"}, True),
        ({"target": "http"}, False),
        ({"created_since": NOW}, True),
        ({"created_since": NOW + 1}, False),
        ({"created_before": NOW + 1}, True),
        ({"created_before": NOW}, False),
        ({"before": NOW + 1}, True),
        ({"before": NOW}, False),
    ],
    ids=lambda part: part if isinstance(part, bool) else ",".join(part) or "default",
)
def test_filter_wants_a_task_that_meets_each_condition(wanted: dict[str, Any], matches: bool):
    assert TaskFilter(**{"namespace": None if wanted else "default", **wanted}).wants(TASK) is (
        matches
    )


def test_filter_by_handler_is_about_python_targets():
    assert not TaskFilter(handler="x").wants(HTTP)
    assert TaskFilter(target="http").wants(HTTP)


def test_filter_by_name_does_not_want_a_task_without_one():
    assert not TaskFilter(name="a").wants(HTTP)


def test_no_wanted_id_is_above_the_bound_of_a_filter():
    early = TaskFilter(created_before=NOW, before=NOW + HOUR).below
    assert early is not None
    assert early == TaskFilter(created_before=NOW).below
    assert TASK.id < early
    assert TaskFilter(before=NOW, created_before=NOW + HOUR).below == TaskFilter(before=NOW).below
    assert TaskFilter().below is None
