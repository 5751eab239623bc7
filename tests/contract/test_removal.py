"""Tasks that have ended: which of them may be removed, and their removal."""

from dataclasses import replace
from typing import Any

import pytest

from duetime.core.change import Applied, Refused
from duetime.core.lifecycle import Outcome, Status
from duetime.core.listings import EndedListing
from duetime.core.occurrence import Occurrence
from duetime.core.ports import Reservation, TaskStore
from duetime.core.retention import KEY_LIFE, LEDGER_RETENTION
from duetime.core.steps.record import Failure, fail, succeed
from duetime.core.steps.remove import Removal
from duetime.core.steps.revive import revive
from duetime.core.task import Attempt, Task, TaskError
from duetime.core.times import DAY, HOUR, Millis
from tests.factories import (
    NOW,
    WAKE_POLICY,
    a_draw,
    a_running_task,
    a_spec,
    a_task,
    an_id,
)

KEPT = 30 * DAY
LATER = NOW + KEPT


def an_ended_task(ended_at: Millis = NOW, status: Status = Status.SUCCEEDED, **spec: Any) -> Task:
    task = a_task(spec=a_spec(**spec), status=status, wake=None)
    return replace(task, updated_at=ended_at, attempt=1, result='"done"')


def a_run() -> Occurrence:
    return Occurrence(schedule_id=an_id(), scheduled_for=NOW, version=1)


def ended(store: TaskStore, **listing: Any) -> list[str]:
    """Returns the ids in every page."""
    ids: list[str] = []
    wanted = EndedListing(**{"as_of": LATER, "kept_for": KEPT} | listing)
    while True:
        page = store.ended(wanted)
        ids += [task.id for task in page.tasks]
        if page.cursor is None:
            return sorted(ids)
        wanted = replace(wanted, cursor=page.cursor)


def a_dead_task(store: TaskStore) -> Task:
    task = a_running_task()
    store.put([task])
    error = TaskError(type="Bad", message="no")
    failure = Failure(outcome=Outcome.FAILED, error=error, permanent=True)
    [dead] = store.apply([fail(WAKE_POLICY, task, failure, now=NOW, draw=a_draw())])
    return dead.stored


def test_ended_lists_final_tasks_that_were_kept_long_enough(store: TaskStore):
    tasks = [a_task(status=s, wake=None, updated_at=NOW) for s in Status if s.finished]
    live = [a_task(status=s, updated_at=NOW) for s in Status if not s.finished]
    young = an_ended_task(NOW + 1)
    store.put([*tasks, *live, young])

    assert ended(store) == sorted(task.id for task in tasks if task.status.final)
    assert ended(store, as_of=LATER - 1) == []


def test_ended_leaves_out_a_task_with_a_follow_up(store: TaskStore):
    task = an_ended_task()
    store.put([replace(task, wake=a_task().wake)])

    assert ended(store) == []


def test_ended_keeps_a_run_of_a_schedule_as_long_as_the_ledger(store: TaskStore):
    run = an_ended_task(occurrence=a_run())
    store.put([run])

    assert ended(store, as_of=NOW + LEDGER_RETENTION - 1, kept_for=0) == []
    assert ended(store, as_of=NOW + LEDGER_RETENTION, kept_for=0) == [run.id]


def test_ended_keeps_a_task_as_long_as_its_idempotency_key(store: TaskStore):
    task, keyed = an_ended_task(), an_ended_task(idempotency_key="k")
    store.put([task, keyed])

    assert ended(store, as_of=NOW + KEY_LIFE - 1, kept_for=0) == [task.id]
    assert ended(store, as_of=NOW + KEY_LIFE, kept_for=0) == sorted([task.id, keyed.id])


def test_ended_filters_by_status_and_namespace(store: TaskStore):
    here, there = an_ended_task(), an_ended_task(namespace="there")
    expired = an_ended_task(status=Status.EXPIRED)
    store.put([here, there, expired])

    assert ended(store, namespace="there") == [there.id]
    assert ended(store, statuses=frozenset({Status.EXPIRED})) == [expired.id]


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_ended_pages_name_each_task_once(store: TaskStore, limit: int):
    tasks = [an_ended_task(NOW - n % 3, occurrence=a_run() if n > 4 else None) for n in range(8)]
    store.put(tasks)

    found = ended(store, as_of=NOW + LEDGER_RETENTION, limit=limit)

    assert found == sorted(task.id for task in tasks)


@pytest.mark.parametrize("cursor", ["x", "0-1-2", "3-0000000000000-", "aGVsbG8=", "é"])
def test_ended_refuses_a_cursor_of_another_list(store: TaskStore, cursor: str):
    with pytest.raises(ValueError, match="not a cursor"):
        store.ended(EndedListing(as_of=NOW, kept_for=0, cursor=cursor))


def test_removed_task_is_gone_from_every_list(store: TaskStore):
    task, other = an_ended_task(payload="p" * 5_000), an_ended_task()
    store.put([task, other])

    assert store.remove([Removal(task)]) == [Applied(task)]

    assert store.get([task.id, other.id]) == {other.id: other}
    assert ended(store) == [other.id]
    assert store.remove([Removal(task), Removal(other)]) == [Refused(None), Applied(other)]


def test_removal_of_a_dead_task_discards_it(store: TaskStore):
    dead = a_dead_task(store)

    assert store.remove([Removal(dead)]) == [Applied(dead)]
    assert store.get([dead.id]) == {}


def test_removal_loses_against_a_revival(store: TaskStore):
    dead = a_dead_task(store)
    [revived] = store.apply([revive(WAKE_POLICY, dead, now=NOW, draw=a_draw())])

    assert store.remove([Removal(dead)]) == [Refused(revived.stored)]
    assert store.get([dead.id]) == {dead.id: revived.stored}


def test_removal_loses_against_a_second_death(store: TaskStore):
    dead = a_dead_task(store)
    store.remove([Removal(dead)])
    again = replace(dead, updated_at=NOW + HOUR)
    store.put([again])

    assert store.remove([Removal(dead)]) == [Refused(again)]


def test_removal_leaves_a_task_whose_follow_up_is_not_done(store: TaskStore):
    seen = an_ended_task()
    stored = replace(seen, wake=a_task().wake)
    store.put([stored])

    assert store.remove([Removal(seen)]) == [Refused(stored)]
    assert store.get([seen.id]) == {seen.id: stored}


@pytest.mark.parametrize("status", [s for s in Status if not s.finished])
def test_unfinished_task_cannot_be_removed(status: Status):
    with pytest.raises(ValueError, match="cannot be removed"):
        Removal(a_task(status=status, wake=None))


def test_finished_task_with_a_follow_up_cannot_be_removed():
    with pytest.raises(ValueError, match="cannot be removed"):
        Removal(replace(an_ended_task(), wake=a_task().wake))


def test_task_that_has_just_ended_can_be_removed(store: TaskStore):
    task = a_running_task()
    store.put([task])
    [done] = store.apply([succeed(task, result="1", now=NOW)])

    assert ended(store, as_of=NOW, kept_for=0) == [task.id]
    assert store.remove([Removal(done.stored)]) == [done]


def test_removed_task_leaves_its_idempotency_key_free(store: TaskStore):
    """An expired key is free in any case; the key of a discarded task names nothing."""
    task = an_ended_task(idempotency_key="k")
    store.put([task])
    key = Reservation(
        namespace="default", key="k", task_id=task.id, body_hash="h", expires_at=NOW + KEY_LIFE
    )
    store.reserve([key], NOW)
    store.remove([Removal(task)])
    again = replace(key, task_id=an_id(), expires_at=NOW + 2 * KEY_LIFE)

    assert store.reserve([again], NOW + KEY_LIFE) == [again]


def test_attempts_are_kept_until_the_task_leaves(store: TaskStore):
    task = replace(an_ended_task(), attempt=2)
    store.put([task])
    first = Attempt(number=1, started_at=NOW, drift_ms=0)
    store.keep_attempt(task.id, first)

    assert store.attempts(task.id) == [first]
