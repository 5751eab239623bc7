"""`duetime me`, `stuck`, `handlers` and `dlq groups`."""

import json
from typing import Any

import pytest

from duetime.api.callers import READ_ONLY
from duetime.cli import system as commands
from duetime.core.task import TaskError
from duetime.core.times import HOUR, MINUTE
from duetime.core.value import replace
from duetime.core.wakes import WakeKind
from tests.api.dead import a_dead_task
from tests.factories import WAKE_POLICY, a_spec, a_task


def test_caller_of_a_running_system(live: Any) -> None:
    assert live("me").stdout == "You: may read, operate and work. Duetime 9.9.9.\n"
    assert json.loads(live("me", "--json").stdout)["rights"] == ["read", "operate", "work"]


def test_sentence_names_the_actor_and_the_stage() -> None:
    me: Any = {"actor": "ada", "rights": sorted(READ_ONLY), "stage": "prod", "version": "1"}

    assert commands._sentence(me) == "ada: may read. Duetime 1 of prod."


def test_nothing_is_stuck_in_a_new_system(live: Any) -> None:
    assert live("stuck").stdout == "Nothing is stuck.\n"


def test_stuck_task_is_shown_with_the_reason(live: Any, system: Any) -> None:
    now = system.now()
    task = a_task(spec=a_spec(run_at=now - 2 * MINUTE, name="restock"), now=now - HOUR)
    wake = WAKE_POLICY.wake(WakeKind.DISPATCH, task.id, task.lane, task.due_at, now=task.due_at)
    system.store.put([replace(task, wake=wake)])

    shown = live("stuck").stdout

    assert task.id in shown
    assert "the scanner has not come to it" in shown
    assert "restock" in shown
    [item] = json.loads(live("stuck", "--json").stdout)["items"]
    assert item["why"] == "not_claimed"
    assert live("stuck", "--namespace", "other").stdout == "Nothing is stuck.\n"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"why": "limit", "waiting_for": {"limit": "stripe", "key": "a"}}, "the limit stripe a"),
        ({"why": "queued_behind", "waiting_for": {"ordering_key": "k"}}, "its turn under k"),
        ({"why": "no_worker", "waiting_for": {"worker": "a.b", "pool": "gpu"}}, "the pool gpu"),
        ({"why": "lease_run_out"}, "its executor has died"),
        ({"why": "of a later version"}, "of a later version"),
    ],
)
def test_each_reason_has_words(fields: Any, words: str) -> None:
    assert words in commands._why(fields)


def test_answer_that_is_not_complete_says_so() -> None:
    found: Any = {"items": [], "complete": False, "looked_until": ""}

    assert list(commands._stuck_lines(found))[-1].startswith("There may be more")


def test_handlers_are_listed(live: Any) -> None:
    names = [one["name"] for one in json.loads(live("handlers", "--json").stdout)["items"]]

    assert names
    assert all(name in live("handlers").stdout for name in names)


def test_handler_is_shown_with_what_it_takes() -> None:
    one: Any = {
        "name": "shop.restock",
        "module": "shop",
        "line": 12,
        "doc": "Orders.",
        "payload_schema": {"properties": {"items": {}, "limit": {}}},
        "schedules": [{"name": "nightly"}],
    }

    [table] = commands._handler_lines([one])

    cells = [next(iter(column.cells)) for column in table.columns]  # type: ignore[union-attr]
    assert [str(cell) for cell in cells] == [
        *("shop.restock", "shop:12", "items, limit", "nightly", "Orders."),
    ]
    [hint] = commands._handler_lines([])
    assert str(hint).startswith("No handlers")


@pytest.fixture
def dead(system: Any) -> list[str]:
    """Two tasks of one cause, and one of another."""
    now = system.now()
    tasks = [a_dead_task(now - MINUTE), a_dead_task(now), a_dead_task(now, error_type="KeyError")]
    for number, task in enumerate(tasks):
        error = TaskError(type=task.current.error.type, message=f"no item {number}")
        tasks[number] = replace(task, current=replace(task.current, error=error))
    system.store.put(tasks)
    return [task.id for task in tasks]


def test_dead_letters_are_grouped_and_one_group_is_redriven(
    live: Any, dead: list[str], system: Any
) -> None:
    first, second = json.loads(live("dlq", "groups", "--json").stdout)["items"]
    assert (first["count"], first["message"]) == (2, "no item …")

    shown = live("dlq", "groups").stdout
    assert first["fingerprint"] in shown
    assert second["fingerprint"] in shown
    tried = live("dlq", "redrive", "--group", first["fingerprint"], "--dry-run").stdout
    assert tried == "2 tasks would be redriven.\n"
    live("dlq", "redrive", "--group", first["fingerprint"], "--yes")
    left = json.loads(live("dlq", "list", "--json").stdout)["items"]
    assert [task["id"] for task in left] == dead[2:]
    assert live("dlq", "groups", "--handler", "other").stdout == "No dead letter matches.\n"


def test_group_that_is_no_fingerprint_is_refused(live: Any) -> None:
    refused = live("dlq", "redrive", "--group", "x", "--yes")

    assert refused.exit_code != 0
    assert "fingerprint: must be the fingerprint of a group" in refused.stderr


def test_list_takes_a_query(live: Any, dead: list[str]) -> None:
    listed = json.loads(live("list", "-q", "status:DEAD since:9999d", "--json").stdout)["items"]
    assert {task["id"] for task in listed} == set(dead)
    refused = live("list", "-q", "colour:red")
    assert "unknown word 'colour'" in refused.stderr
    assert live("cancel", "-q", "status:PENDING", "--dry-run").exit_code == 0
