"""Runs: a writer that has read the stored revision replaces the run, but never its spec."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from duetime.core.change import Applied, Refused, Unreadable
from duetime.core.lanes import Lane
from duetime.core.times import DAY, HOUR, MINUTE
from duetime.core.wakes import WakeKind, minute_of
from duetime.core.workflows.ports import RunListing, RunStore
from duetime.core.workflows.run import MapWindow, Run, RunError, RunStatus, StopReason
from tests.backends import Stores
from tests.contract.conftest import OpenStores
from tests.factories import NOW, WAKE_POLICY, a_run, a_task, an_id

RIVALS = 16
LONG = "ä" * 100_000
WINDOW = MapWindow(run_id="r", step="load", max_concurrency=100, tolerated_failures=3)


def a_full_run(**spec: Any) -> Run:
    fields = {
        "namespace": "growth",
        "input": {"text": "Größe 🚀", "rows": [1, None, 2.5]},
        "workflow": "etl",
        "version": 3,
        "name": "täglich 📦",
        "tags": {"team": "growth"},
        "priority": Lane.HIGH,
        "fail_fast": True,
        "idempotency_key": "k",
        "body_hash": "h",
        "parent_task_id": an_id(),
        "depth": 1,
    }
    return a_run(
        spec=fields | spec,
        status=RunStatus.CANCELLING,
        states="spwdcxuf",
        generations="1121111z",
        attempt=3,
        stop=StopReason.CANCEL_ALL,
        watches=2,
        error=RunError(step="load", task_id=an_id(), type="E", message="nö", reason="stopped"),
        finished_at=NOW + 5,
    )


def next_of(run: Run, **changes: Any) -> Run:
    return replace(run, revision=run.revision + 1, **changes)


def ended(run: Run, status: RunStatus = RunStatus.SUCCEEDED, at: int = NOW) -> Run:
    return next_of(run, status=status, wake=None, states="sss", updated_at=at, finished_at=at)


@pytest.mark.parametrize("given", [None, 0, [], LONG], ids=["none", "zero", "empty", "long"])
def test_run_is_read_as_it_was_put(runs: RunStore, given: Any):
    run = a_full_run(input=given)

    assert runs.put([run]) == [Applied(run)]
    assert runs.get([run.id, an_id()]) == {run.id: run}
    assert runs.exist([run.id, an_id()]) == {run.id}


def test_run_of_a_map_of_10000_items_is_read_as_it_was_put(runs: RunStore):
    states = "s" * 3_000 + "p" * 100 + "d" + "w" * 6_899
    run = a_run(spec={"map": WINDOW, "input": 10_000}, states=states)
    runs.put([run])

    assert runs.get([run.id]) == {run.id: run}


@pytest.mark.parametrize("given", [None, LONG], ids=["short", "long"])
def test_later_write_replaces_the_state_and_keeps_the_spec(runs: RunStore, given: Any):
    run = a_run(spec={"input": given})
    later = next_of(run, states="ssp", wake=None, updated_at=NOW + 1, watches=1)
    runs.put([run])

    assert runs.put([later]) == [Applied(later)]
    assert runs.get([run.id]) == {run.id: later}


def test_repeated_write_is_applied(runs: RunStore):
    run = a_full_run(input=LONG)
    later = next_of(run, states="s" * 8)

    for each in (run, run, later, later):
        assert runs.put([each]) == [Applied(each)]


def test_write_that_has_read_another_revision_learns_what_is_stored(runs: RunStore):
    run = a_run(spec={"input": LONG})
    runs.put([run])
    stored = next_of(run, states="ssp")
    runs.put([stored])

    for stale in (replace(run, states="ppp"), next_of(run, states="dpp"), replace(run, revision=9)):
        assert runs.put([stale]) == [Refused(stored)]
    assert runs.put([next_of(a_run())]) == [Refused(None)]


def test_of_rivals_that_replace_one_revision_one_is_applied(runs: RunStore):
    run = a_run()
    runs.put([run])
    start = Barrier(RIVALS)

    def rival(number: int) -> Any:
        start.wait()
        return runs.put([next_of(run, watches=number)])[0]

    with ThreadPoolExecutor(RIVALS) as pool:
        answers = list(pool.map(rival, range(1, RIVALS + 1)))
    [winner] = [a.stored for a in answers if isinstance(a, Applied)]
    assert runs.get([run.id]) == {run.id: winner}
    assert answers.count(Refused(winner)) == RIVALS - 1


def test_run_that_cannot_be_read_is_omitted_but_exists(stores: Stores):
    run, other = a_run(), a_run()
    stores.runs.put([run, other])
    stores.spoil_run(run.id)

    assert stores.runs.get([run.id, other.id]) == {other.id: other}
    assert stores.runs.exist([run.id]) == {run.id}
    [answer] = stores.runs.put([replace(run, revision=9)])
    assert isinstance(answer, Unreadable)


def test_wake_of_a_run_is_in_the_index_until_it_is_removed(stores: Stores):
    run, task = a_run(), a_task()
    stores.runs.put([run])
    stores.tasks.put([task])
    minute, shard = minute_of(run.wake.at), int(run.wake.bucket[-2:])

    assert list(stores.tasks.wakes(minute, shard, WakeKind.RUN)) == [run.wake]
    assert run.wake in stores.tasks.wakes(minute, shard)
    assert set(stores.tasks.few_wakes(9)) == {run.wake, task.wake}

    stores.runs.put([ended(run)])
    assert stores.tasks.few_wakes(9) == [task.wake]


def test_wake_of_a_run_is_set_aside_unless_it_has_moved(stores: Stores):
    run = a_run()
    later = WAKE_POLICY.wake(WakeKind.RUN, run.id, Lane.MEDIUM, NOW + HOUR, now=NOW)
    stores.runs.put([run])
    stores.spoil_run(run.id)

    stores.runs.set_aside(run.wake, later)
    stores.runs.set_aside(run.wake, replace(later, at=NOW + 2 * HOUR))
    assert stores.tasks.few_wakes(9) == [later]


def pages(runs: RunStore, **wanted: Any) -> list[list[Run]]:
    listing, found = RunListing(**wanted), []
    while True:
        page = runs.page(listing)
        found.append(list(page.runs))
        if page.cursor is None:
            return found
        listing = replace(listing, cursor=page.cursor)


def listed(runs: RunStore, **wanted: Any) -> list[Run]:
    return [run for page in pages(runs, **wanted) for run in page]


def run_at(at: int, **spec: Any) -> Run:
    return a_run(run_id=an_id(at), created_at=at, spec=spec)


def test_runs_are_listed_newest_first_page_by_page(runs: RunStore):
    wanted = [run_at(NOW - n * 7 * HOUR) for n in range(9)]
    runs.put(wanted[::-1])

    for limit in (1, 2, 9, 50):
        assert listed(runs, limit=limit) == wanted
        assert all(len(page) <= limit for page in pages(runs, limit=limit))


def test_runs_are_listed_by_namespace_status_workflow_and_tag(runs: RunStore):
    plain, other = run_at(NOW), run_at(NOW - 1, namespace="growth")
    etl = run_at(NOW - 2, workflow="etl", tags={"team": "growth"})
    runs.put([plain, other, etl])
    failed = next_of(plain, status=RunStatus.FAILED)
    runs.put([failed])

    assert listed(runs) == [failed, etl]
    assert listed(runs, namespace="growth") == [other]
    assert listed(runs, namespace=None) == [failed, other, etl]
    assert listed(runs, status=RunStatus.FAILED) == [failed]
    assert listed(runs, workflow="etl") == [etl]
    assert listed(runs, tag="team") == listed(runs, tag="team:growth") == [etl]
    assert listed(runs, tag="team:sales") == []


def test_run_of_a_map_is_in_no_list(runs: RunStore):
    runs.put([a_run(spec={"map": WINDOW})])

    assert listed(runs) == listed(runs, namespace=None) == []


def test_run_is_removed_with_its_long_input(open_stores: OpenStores):
    run = a_run(spec={"input": LONG})
    with open_stores() as stores:
        stores.runs.put([run])
        stores.runs.put([ended(run)])
        stores.runs.remove([run.id, an_id()])

        assert stores.runs.exist([run.id]) == set()
        assert stores.runs.put([run]) == [Applied(run)]


@pytest.mark.parametrize("open_stores", ["sqlite"], indirect=True)
def test_sqlite_returns_the_runs_that_may_be_removed(runs: RunStore):
    parent, nested = a_run(), a_run(spec={"parent_task_id": an_id(), "timeout": DAY})
    reporting, failed = a_run(spec={"parent_task_id": an_id()}), a_run()
    runs.put([parent, nested, reporting, failed])
    runs.put([ended(parent), ended(nested), ended(failed, RunStatus.FAILED)])
    runs.put([replace(ended(reporting), wake=reporting.wake)])

    assert runs.ended(NOW, 9) == []
    assert runs.ended(NOW + 1, 9) == [parent.id]
    assert runs.ended(NOW + DAY + 1, 9) == [parent.id, nested.id]
    assert runs.ended(NOW + 999 * DAY, 1) == [parent.id]
    assert runs.ended(NOW + 999 * DAY + MINUTE, 9) == [parent.id, nested.id]
