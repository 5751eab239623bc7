"""POST /v1/tasks/cancel: tasks that wait, run, and change meanwhile."""

from dataclasses import replace

from duetime.api.bulk_actions import CHANGED, TRIES
from duetime.api.http import CONTENTION
from duetime.core.change import Answer, Change, Refused
from duetime.core.lifecycle import Status
from duetime.core.steps.claim import claim
from duetime.core.steps.defer import Deferral, defer
from duetime.core.task import Task
from tests.api.bulk import GROWTH, TAG, answer, done, put, starts, tagged
from tests.api.change import a_retrying_task
from tests.api.dead import a_dead_task, statuses
from tests.api.races import meanwhile
from tests.api.service import Service
from tests.factories import NOW, WAKE_POLICY, a_draw, a_running_task, a_sent_task, a_spec, a_task


def retagged(task: Task) -> Change:
    wanted = Deferral(spec=replace(task.spec, tags={"team": "other"}), due_at=task.due_at)
    return defer(WAKE_POLICY, task, wanted, now=NOW, draw=a_draw())


def test_cancel_ends_what_waits_and_asks_what_runs_to_stop(any_service: Service):
    tasks = [
        *tagged(1),
        a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)),
        replace(a_retrying_task(), spec=a_spec(run_at=NOW, tags=GROWTH)),
        a_running_task(spec=a_spec(run_at=NOW, tags=GROWTH)),
        a_task(spec=a_spec(tags=GROWTH), status=Status.SUCCEEDED, wake=None),
        a_dead_task(tags=GROWTH),
    ]
    ids = put(any_service, *tasks)

    assert done(any_service, "cancel", tag=TAG) == answer(4)

    after = ["CANCELLED", "CANCELLED", "CANCELLED", "RUNNING", "SUCCEEDED", "DEAD"]
    assert statuses(any_service, ids) == after
    assert any_service.store.get(ids)[ids[3]].cancel_requested
    assert done(any_service, "cancel", tag=TAG) == answer(0), "it is already asked to stop"


def test_task_that_starts_meanwhile_is_asked_to_stop(any_service: Service):
    [task_id] = put(any_service, a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)))
    meanwhile(any_service, starts)

    assert done(any_service, "cancel", tag=TAG) == answer(1)

    assert any_service.store.get([task_id])[task_id].cancel_requested


def test_task_that_starts_meanwhile_is_left_alone_if_the_filter_names_its_status(
    any_service: Service,
):
    [task_id] = put(any_service, a_sent_task(spec=a_spec(run_at=NOW, tags=GROWTH)))
    meanwhile(any_service, starts)

    body = done(any_service, "cancel", tag=TAG, status="ENQUEUED")

    assert body == answer(1, (task_id, "it is RUNNING"))
    assert not any_service.store.get([task_id])[task_id].cancel_requested


def test_task_whose_tags_change_meanwhile_is_left_alone(any_service: Service):
    ids = put(any_service, *tagged(2))
    meanwhile(any_service, retagged, retagged)

    body = done(any_service, "cancel", tag=TAG)

    assert {entry["reason"] for entry in body["not_changed"]} == {CHANGED}
    assert statuses(any_service, ids) == ["PENDING"] * 2


def test_task_that_is_claimed_meanwhile_is_cancelled(any_service: Service):
    [task_id] = put(any_service, *tagged(1))

    def claimed(task: Task) -> Change:
        assert task.wake is not None
        return claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw())

    meanwhile(any_service, claimed)

    assert done(any_service, "cancel", tag=TAG, status="PENDING") == answer(1)
    assert statuses(any_service, [task_id]) == ["CANCELLED"]


def test_cancel_gives_up_on_a_task_that_others_keep_changing(service: Service):
    task, *rest = tagged(3)
    put(service, task, *rest)
    tried = []

    def refuse(change: Change) -> Answer | None:
        if change.task_id != task.id:
            return None
        tried.append(change)
        return Refused(task)

    service.store.apply_answer = refuse

    assert done(service, "cancel", tag=TAG) == answer(3, (task.id, CONTENTION))
    assert len(tried) == TRIES
