"""What is the embedded store's own: its cache of live tasks, and who hears of a change."""

import sqlite3

import pytest

from duetime.embedded import store as module
from duetime.embedded.store import EmbeddedStore
from lambdas.core.change import Applied, Unknown
from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status
from lambdas.core.steps.cancel import cancel
from lambdas.core.steps.claim import claim
from lambdas.core.steps.record import succeed
from tests.factories import NOW, RULES, a_draw, a_running_task, a_sent_task, a_task


class Listened(EmbeddedStore):
    def __init__(self) -> None:
        self.heard: list[StatusChange] = []
        super().__init__(None, self.heard.extend)


@pytest.fixture
def store():
    store = Listened()
    yield store
    store.close()


def fail_next_update(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def update_tasks(connection, rows):
        monkeypatch.undo()
        raise error

    monkeypatch.setattr(module, "update_tasks", update_tasks)


def test_a_rollback_forgets_what_was_not_written(store: Listened, monkeypatch: pytest.MonkeyPatch):
    task = a_task()
    store.put([task])
    store.heard.clear()
    change = claim(RULES, task.wake, now=NOW, draw=a_draw())
    fail_next_update(monkeypatch, sqlite3.OperationalError("database or disk is full"))

    [answer] = store.apply([change])
    assert isinstance(answer, Unknown)
    assert (store.get([task.id])[task.id], store.heard) == (task, [])

    [answer] = store.apply([change])
    assert isinstance(answer, Applied)
    assert store.get([task.id]) == {task.id: answer.task}
    assert [heard.after for heard in store.heard] == [Status.ENQUEUED]


def test_what_fails_for_another_reason_rises(store: Listened, monkeypatch: pytest.MonkeyPatch):
    task = a_sent_task()
    store.put([task])
    fail_next_update(monkeypatch, ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        store.apply([cancel(task.id, now=NOW)])
    assert store.get([task.id]) == {task.id: task}


def test_listeners_hear_of_every_status_once_and_in_order(store: Listened):
    first, second = a_task(), a_running_task()
    store.put([first, second])
    store.apply([cancel(first.id, now=NOW), cancel(first.id, now=NOW)])
    store.apply([succeed(second, result=1, now=NOW)])

    assert [(c.task_id, c.before, c.after) for c in store.heard] == [
        (first.id, None, Status.PENDING),
        (second.id, None, Status.RUNNING),
        (first.id, Status.PENDING, Status.CANCELLED),
        (second.id, Status.RUNNING, Status.SUCCEEDED),
    ]


def test_more_live_tasks_than_are_kept_in_mind(store: Listened, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LIVE_LIMIT", 2)
    tasks = [a_task() for _ in range(5)]
    store.put(tasks)

    answers = store.apply([cancel(task.id, now=NOW) for task in tasks])

    assert [answer.task.status for answer in answers] == [Status.CANCELLED] * 5
    assert store._live == {}
