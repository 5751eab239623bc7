"""The fields of children are checked as the API checks those of a request: by pydantic there, and
without it in an executor."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.api.http import Problem
from duetime.api.task_models import TaskIn, read_task
from duetime.core.task import LONGEST_TIMEOUT, Spec
from duetime.core.time_limits import TimeLimits
from duetime.engine.refusal import Refusal
from duetime.executor.child_fields import _READERS, NOT_FOR_CHILDREN, read_spec
from tests.factories import NOW, a_running_task, a_spec

TARGET = {"type": "python", "handler": "shop.restock"}
PARENT = a_running_task(spec=a_spec(namespace="default"))
LONG, LONGEST = "k" * 129, "k" * 128

VALUES: dict[str, list[Any]] = {
    "run_at": [
        *("2026-11-16T09:00:00Z", "2027-01-01t09:00:00.5+01:00", None, 5, "", "tomorrow"),
        *("2026-11-16T09:00:00", "2026-13-16T09:00:00Z", "1969-01-01T00:00:00Z"),
        *("9999-12-31T23:59:59Z", "2036-11-01T00:00:00Z", "2037-11-01T00:00:00Z"),
    ],
    "delay": [0, 1.5, 315_360_000, 315_360_001, -1, -0.1, None, "5", True, [], 1e400],
    "priority": ["high", "medium", "low", "urgent", "HIGH", "", None, 1, ["high"]],
    "timeout": [1, 60, 2.5, LONGEST_TIMEOUT, LONGEST_TIMEOUT + 1, 0, 0.9, None, "60", True],
    "jitter": [0, 3600, 3601, -1, None, "1", False],
    "retry": [
        *(None, {}, {"max_attempts": 1}, {"max_attempts": 100}, {"max_attempts": 101}, "3", []),
        *({"max_attempts": 0}, {"max_attempts": 2.0}, {"max_attempts": True}, {"tries": 3}),
        *({"base_delay": 0}, {"base_delay": 86_400}, {"base_delay": 86_401}, {"base_delay": "1"}),
        *({"multiplier": 1}, {"multiplier": 0.5}, {"multiplier": 101}, {"jitter": -1}),
        *({"max_delay": 5, "base_delay": 7.5, "jitter": 0, "multiplier": 3}, {"max_delay": None}),
    ],
    "expires_at": ["2030-01-01T00:00:00Z", "2020-01-01T00:00:00Z", None, 7, "soon"],
    "name": ["", "n" * 256, "n" * 257, None, 3],
    "namespace": ["shop", "a.b:c_d-e", LONGEST, LONG, "", "a b", "ä", None, 4, "a\n"],
    "ordering_key": ["o", LONG, "", None, 1],
    "on_dead": ["continue", "block", "stop", None, 1],
    "limits": [
        *([], [{"name": "stripe"}], [{"name": "stripe", "key": "acct-7"}, {"name": "a"}], None, {}),
        *([{"name": "a", "key": None, "on_full": "skip"}], [{"name": "a", "on_full": "cancel"}]),
        *([{"name": "n" * 64}], [{"name": "n" * 65}], [{"name": ""}], [{"name": "a:b"}], [{}]),
        *([{"name": None}], [{"name": 1}], ["stripe"], [None], [{"name": "a", "keys": 1}]),
        *(
            [{"name": "a", "key": LONG}],
            [{"name": "a", "key": LONGEST}],
            [{"name": "a", "key": ""}],
        ),
        *([{"name": "a", "key": 7}], [{"name": "a", "on_full": "wait"}], [{"name": "ä"}]),
        *([{"name": "a", "on_full": None}], [{"name": "a"}] * 3, "stripe"),
    ],
    "fairness_key": ["tenant-7", LONGEST, LONG, "", "a b", None, 1],
    "idempotency_key": ["order-17", LONG, "", "a/b", None, 1],
    "tags": [
        *({}, {"team": "growth"}, {"k" * 64: "v" * 256}, {"k" * 65: ""}, {"k": "v" * 257}),
        *({"": "v"}, {"k": 1}, {str(n): "" for n in range(10)}, {str(n): "" for n in range(11)}),
        *(None, [], "team:growth"),
    ],
    "parent_id": ["01M7H64P7KAAJZWRTDWAWEWR1E"],
    "delays": [1],
}
CASES = [(name, value) for name, values in VALUES.items() for value in values]


def of_the_api(body: dict[str, Any]) -> Spec | set[str]:
    """Returns the spec, or the fields that are refused."""
    try:
        return read_task(body, TimeLimits()).spec(NOW)
    except Problem as problem:
        return {error["field"].rstrip(".") for error in problem.body["errors"]}


def of_the_executor(body: dict[str, Any]) -> Spec | set[str]:
    try:
        return read_spec(body, parent=PARENT, now=NOW, time_limits=TimeLimits())
    except Refusal as refusal:
        return {error.field for error in refusal.errors}


@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{n} {v!r:.30}" for n, v in CASES])
def test_executor_reads_and_refuses_what_the_api_does(name: str, value: Any):
    body = {"target": TARGET, "payload": {"n": 1}, name: value}
    expected, found = of_the_api(body), of_the_executor(body)

    if isinstance(found, Spec):
        assert found.parent_id == PARENT.id
        assert isinstance(expected, Spec), expected
        expected = replace(expected, parent_id=PARENT.id)
    assert found == expected


def test_executor_names_every_field_that_is_wrong():
    body = {"target": TARGET, "priority": "urgent", "timeout": 0, "unique": {"key": "k"}}

    assert of_the_executor(body) == {"priority", "timeout", "unique"}


def test_executor_knows_every_field_of_the_api():
    """A new field of a task must be read for children too, or be refused."""
    known = {*_READERS, *NOT_FOR_CHILDREN, "target", "payload"} - {"step"}
    assert known == set(TaskIn.model_fields)


@pytest.mark.parametrize("on_dead", ["continue", "block"])
def test_ordered_child_may_say_what_its_death_does(on_dead: str):
    body = {"target": TARGET, "ordering_key": "o", "on_dead": on_dead}

    expected, found = of_the_api(body), of_the_executor(body)
    assert isinstance(found, Spec)
    assert found.on_dead == on_dead
    assert replace(found, parent_id=None) == replace(expected, payload=None)


def test_times_that_disagree_are_refused_alike():
    both = {"target": TARGET, "run_at": "2026-12-16T09:00:00Z", "delay": 5}

    assert of_the_executor(both) == of_the_api(both) == {"delay"}
