"""The tasks of steps: found by their id, in no list, and kept longer than their run."""

from dataclasses import replace

import pytest

from duetime.core.change import Applied, Change, Expect, Refused
from duetime.core.forecast import DueSpan
from duetime.core.lifecycle import Status, Step
from duetime.core.listings import DeadListing, EndedListing, ListOrder
from duetime.core.ports import TaskStore
from duetime.core.step_ref import StepRef
from duetime.core.steps.remove import Removal
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import Task
from duetime.core.times import DAY, HOUR
from tests.factories import NOW, a_listing, a_spec, a_task, an_id

WAITS = Suspension(kind=WaitsFor.RUN, id=an_id(), run_attempt=2)
FAILED = replace(WAITS, error_type="RunFailed", error_message="no 🚀")


def a_step_task(run_timeout: int = 7 * DAY, **fields: object) -> Task:
    ref = StepRef(run_id=an_id(), step="load", index=7, run_timeout=run_timeout)
    spec = a_spec(target={"type": "step"}, step=ref, tags={"team": "x"}, run_at=NOW + HOUR)
    return a_task(spec=spec, **fields)


def test_task_of_a_step_is_read_as_it_was_put(store: TaskStore):
    for task in (a_step_task(), a_step_task(run_timeout=DAY)):
        assert store.put([task]) == [Applied(task)]
        assert store.get([task.id]) == {task.id: task}


@pytest.mark.parametrize("namespace", ["default", None])
def test_task_of_a_step_is_in_no_list(store: TaskStore, namespace: str | None):
    plain = a_task(spec=a_spec(tags={"team": "x"}, run_at=NOW + 2 * HOUR))
    store.put([a_step_task(), plain, a_step_task(status=Status.DEAD)])

    for wanted in (
        {},
        {"tags": ("team",)},
        {"statuses": frozenset({Status.PENDING})},
        {"statuses": frozenset({Status.DEAD, Status.PENDING})},
        {"order": ListOrder.SOONEST},
    ):
        assert list(store.page(a_listing(namespace=namespace, **wanted)).tasks) == [plain], wanted
    assert not store.page(a_listing(namespace=namespace, target="step")).tasks


def test_forecast_counts_the_task_of_a_step(store: TaskStore):
    store.put([a_step_task()])

    counts = store.due_counts(DueSpan(start=NOW, end=NOW + 2 * HOUR))
    assert sum(counts.tasks.values()) == 1


def test_dead_task_of_a_step_is_a_dead_letter(store: TaskStore):
    task = a_step_task(status=Status.DEAD, updated_at=NOW, wake=None)
    store.put([task])

    assert list(store.dead(DeadListing(namespace="default")).tasks) == [task]


def ended(store: TaskStore, as_of: int, **fields: object) -> list[Task]:
    listing, found = EndedListing(as_of=as_of, kept_for=DAY, **fields), []
    while True:
        page = store.ended(listing)
        found += page.tasks
        if page.cursor is None:
            return found
        listing = replace(listing, cursor=page.cursor)


@pytest.mark.parametrize(("timeout", "extra"), [(DAY, 7 * DAY), (30 * DAY, 30 * DAY)])
def test_task_of_a_step_is_kept_for_the_timeout_of_its_run_and_longer(
    store: TaskStore, timeout: int, extra: int
):
    task = a_step_task(timeout, status=Status.SUCCEEDED, updated_at=NOW, wake=None)
    store.put([task])

    assert ended(store, NOW + extra + DAY - 1) == []
    assert ended(store, NOW + extra + DAY, namespace="growth") == []
    assert ended(store, NOW + extra + DAY, namespace="default") == [task]
    assert store.remove([Removal(task)]) == [Applied(task)]
    assert store.get([task.id]) == {}


@pytest.mark.parametrize("expected", [WAITS, FAILED], ids=["waits", "failed"])
def test_change_that_expects_a_suspension_is_refused_by_any_other(
    store: TaskStore, expected: Suspension
):
    waiting = a_task(status=Status.WAITING, suspended=expected)
    others = [
        a_task(status=Status.WAITING, suspended=replace(expected, run_attempt=3)),
        a_task(status=Status.WAITING),
    ]
    store.put([waiting, *others])

    def resume(task: Task) -> Change:
        expect = Expect(statuses=frozenset({Status.WAITING}), suspended=expected)
        sets = {"status": Status.SUCCEEDED, "suspended": None, "wake": None, "updated_at": NOW}
        return Change(step=Step.RESUME, task_id=task.id, expect=expect, sets=sets)

    after = replace(waiting, status=Status.SUCCEEDED, suspended=None, wake=None, updated_at=NOW)
    assert store.apply([resume(waiting)]) == [Applied(after)]
    assert store.apply([resume(each) for each in others]) == [Refused(each) for each in others]
    assert store.get([waiting.id]) == {waiting.id: after}
