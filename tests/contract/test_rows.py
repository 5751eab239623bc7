"""The rows beside the tasks: earlier attempts and idempotency keys."""

from dataclasses import replace

from duetime.core.lifecycle import Outcome
from duetime.core.ports import Reservation, TaskStore
from duetime.core.task import Attempt, TaskError
from duetime.core.times import DAY
from tests.factories import NOW, a_task, an_id


def an_attempt(number: int, message: str = "no") -> Attempt:
    return Attempt(
        number=number,
        started_at=NOW,
        drift_ms=12,
        finished_at=NOW + 5,
        outcome=Outcome.FAILED,
        error=TaskError(type="ValueError", message=message),
    )


def a_reservation(key: str = "order-7", **overrides: object) -> Reservation:
    fields = {
        "namespace": "default",
        "key": key,
        "task_id": an_id(),
        "body_hash": "hash",
        "expires_at": NOW + DAY,
    }
    return Reservation(**(fields | overrides))


def test_attempts_come_oldest_first(store: TaskStore):
    task_id = an_id()
    attempts = [an_attempt(number) for number in (1, 2, 3, 10, 11, 100)]
    for attempt in reversed(attempts):
        store.keep_attempt(task_id, attempt)

    assert store.attempts(task_id) == attempts
    assert store.attempts(an_id()) == []


def test_storing_an_attempt_again_changes_nothing(store: TaskStore):
    task = a_task()
    store.put([task])
    for _ in range(2):
        store.keep_attempt(task.id, an_attempt(1, "lang " * 5_000))

    assert store.attempts(task.id) == [an_attempt(1, "lang " * 5_000)]
    assert store.get([task.id]) == {task.id: task}


def test_a_free_idempotency_key_is_reserved(store: TaskStore):
    wanted = a_reservation()

    assert store.reserve([wanted], NOW) == [wanted]


def test_a_taken_key_stays_with_the_first(store: TaskStore):
    first, second = a_reservation(), a_reservation(body_hash="another")
    store.reserve([first], NOW)

    assert store.reserve([second], NOW) == [first]
    assert store.reserve([first], NOW + 1) == [first], "our own, made again"


def test_an_expired_key_is_free(store: TaskStore):
    first, second = a_reservation(), a_reservation(expires_at=NOW + 3 * DAY)
    store.reserve([first], NOW)

    assert store.reserve([second], first.expires_at - 1) == [first]
    assert store.reserve([second], first.expires_at) == [second]
    assert store.reserve([first], NOW + DAY) == [second]


def test_keys_are_answered_each_alone_and_in_order(store: TaskStore):
    taken = a_reservation("b")
    store.reserve([taken], NOW)
    wanted = [a_reservation(key) for key in "abc"]

    assert store.reserve(wanted, NOW) == [wanted[0], taken, wanted[2]]


def test_a_key_belongs_to_its_namespace(store: TaskStore):
    mine = a_reservation()
    theirs = replace(mine, namespace="theirs", task_id=an_id())

    assert store.reserve([mine, theirs], NOW) == [mine, theirs]
