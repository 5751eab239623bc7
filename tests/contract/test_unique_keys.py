"""Unique keys: each names one task, and changes only from the task that its writer has seen."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

from duetime.core.ports import Reservation, TaskStore, UniqueKey
from tests.factories import NOW, an_id

RIVALS = 32


def a_unique_key(**fields: Any) -> UniqueKey:
    return UniqueKey(**{"namespace": "default", "key": "k", "task_id": an_id(), **fields})


def test_unique_key_names_the_first_task_that_takes_it(store: TaskStore):
    first, second = a_unique_key(), a_unique_key()

    assert store.take_keys([first]) == [first.task_id]
    assert store.take_keys([second]) == [first.task_id]
    assert store.take_keys([first]) == [first.task_id], "our own, taken again"


def test_unique_key_is_taken_over_from_the_task_that_it_names(store: TaskStore):
    first, second, third = a_unique_key(), a_unique_key(), a_unique_key()
    store.take_keys([first])

    assert store.take_keys([replace(second, instead_of=first.task_id)]) == [second.task_id]
    assert store.take_keys([replace(third, instead_of=first.task_id)]) == [second.task_id]


def test_free_unique_key_is_taken_by_a_submission_that_knows_a_former_task(store: TaskStore):
    key = a_unique_key(instead_of=an_id())

    assert store.take_keys([key]) == [key.task_id]


def test_unique_keys_are_taken_each_alone_and_in_order(store: TaskStore):
    taken = a_unique_key(key="b")
    store.take_keys([taken])
    wanted = [a_unique_key(key=key) for key in "abc"]

    assert store.take_keys(wanted) == [wanted[0].task_id, taken.task_id, wanted[2].task_id]


def test_unique_key_is_one_of_its_namespace_and_no_idempotency_key(store: TaskStore):
    mine, theirs = a_unique_key(), a_unique_key(namespace="shop")
    reserved = Reservation(
        namespace="default", key=mine.key, task_id=an_id(), body_hash="h", expires_at=NOW + 1
    )

    assert store.take_keys([mine, theirs]) == [mine.task_id, theirs.task_id]
    assert store.reserve([reserved], NOW) == [reserved]


def test_unique_key_names_one_task_when_many_take_it_over_at_once(store: TaskStore):
    first = a_unique_key()
    store.take_keys([first])
    rivals = [a_unique_key(instead_of=first.task_id) for _ in range(RIVALS)]
    start = Barrier(RIVALS)

    def go(rival: UniqueKey) -> str:
        start.wait()
        return store.take_keys([rival])[0]

    with ThreadPoolExecutor(RIVALS) as threads:
        named = set(threads.map(go, rivals))

    assert len(named) == 1
    assert named < {rival.task_id for rival in rivals}
