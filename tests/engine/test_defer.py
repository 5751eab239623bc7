"""defer_all: many tasks at once, each by a pure function."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from duetime.core.change import Answer, Applied, Change, Refused, Unknown
from duetime.core.steps.cancel import cancel
from duetime.core.steps.defer import Deferral
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, Millis
from duetime.core.wake_policy import Draw
from duetime.engine.defer import TRIES, defer_all
from duetime.sqlite.task_store import SqliteTaskStore
from tests.api.service import Service
from tests.factories import NOW, SteppedClock, a_spec, a_task


@pytest.fixture
def service() -> Iterator[Service]:
    with closing(SqliteTaskStore(None)) as store:
        yield Service(store, SteppedClock())


def an_hour_sooner(task: Task, now: Millis, draw: Draw) -> Deferral | str:
    """Shifts a task, and refuses one that would be in the past."""
    due_at = task.due_at - HOUR
    if task.status.finished or due_at < now:
        return f"{task.status} at {task.due_at - NOW}"
    return Deferral(spec=replace(task.spec, run_at=due_at), due_at=due_at)


def due_in(wait: Millis) -> Task:
    return a_task(spec=a_spec(run_at=NOW + wait))


def test_every_task_has_its_own_answer_in_order(service: Service):
    far, past, near, gone = (
        due_in(3 * HOUR),
        due_in(MINUTE),
        due_in(HOUR + MINUTE),
        due_in(5 * HOUR),
    )
    service.store.put([far, past, near])

    answers = defer_all(service.ports, [far, past, near, gone], an_hour_sooner)

    stored = service.store.get([far.id, past.id, near.id])
    assert answers == [
        Applied(stored[far.id]),
        f"ENQUEUED at {MINUTE}",
        Applied(stored[near.id]),
        Refused(None),
    ]
    assert [stored[t.id].due_at - NOW for t in (far, past, near)] == [2 * HOUR, MINUTE, MINUTE]
    assert [d.token for d in service.lanes.sent] == [stored[near.id].token], "due soon"
    assert service.store.writes == ["put", "apply"], "one write for all"


def test_task_that_another_writer_changed_is_decided_again(service: Service):
    changed, ended = due_in(3 * HOUR), due_in(3 * HOUR)
    service.store.put([changed, ended])
    defer_all(service.ports, [changed], an_hour_sooner)
    service.store.apply([cancel(ended, now=NOW)])

    answers = defer_all(service.ports, [changed, ended], an_hour_sooner)

    stored = service.store.get([changed.id])[changed.id]
    assert answers == [Applied(stored), f"CANCELLED at {3 * HOUR}"]
    assert stored.due_at == NOW + HOUR, "an hour sooner than the first writer left it"


def test_task_that_loses_every_try_is_refused(service: Service):
    task = due_in(3 * HOUR)
    service.store.put([task])
    service.store.writes.clear()
    service.store.apply_answer = lambda change: Refused(task)

    assert defer_all(service.ports, [task], an_hour_sooner) == [Refused(task)]
    assert service.store.writes == ["apply"] * TRIES


def test_unanswered_write_is_not_repeated_and_not_sent(service: Service):
    answered, lost = due_in(HOUR + MINUTE), due_in(HOUR + MINUTE)
    service.store.put([answered, lost])

    def answer(change: Change) -> Answer | None:
        return Unknown("throttled") if change.task_id == lost.id else None

    service.store.apply_answer = answer

    first, second = defer_all(service.ports, [answered, lost], an_hour_sooner)

    assert (type(first), second) == (Applied, Unknown("throttled"))
    assert [d.task_id for d in service.lanes.sent] == [answered.id]


def test_no_tasks_cost_nothing(service: Service):
    assert defer_all(service.ports, [], an_hour_sooner) == []
    assert service.store.writes == []
