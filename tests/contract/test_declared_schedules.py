"""Declared schedules and their apps: only the current generation of an app can write."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from duetime.core.change import Applied, Refused
from duetime.core.schedules.apps import App, Apps, Superseded, begin_sync, take_generation
from duetime.core.schedules.plan import Declared
from duetime.core.schedules.ports import ScheduleStore
from duetime.core.schedules.schedule import Schedule
from tests.factories import a_schedule, a_spec, an_id

RIVALS = 16
LONG = "ä" * 1_000


def declared(generation: int, app: str = "shop", **fields: Any) -> Schedule:
    origin = Declared(app=app, source="a.py:1", digest="d", generation=generation)
    return a_schedule(declared=origin, **fields)


def current(schedules: ScheduleStore, generation: int, app: str = "shop") -> Apps:
    """Makes a generation the current one."""
    apps = schedules.apps()
    taken = apps.with_app(app, replace(apps.get(app), taken=generation))
    begun = begin_sync(taken, app, generation, digest="", handlers={}, schedules=())
    apps = Apps(by_name=begun.by_name, revision=apps.revision + 1)
    assert schedules.put_apps(apps)
    return apps


def test_there_are_no_apps_at_first(schedules: ScheduleStore):
    assert schedules.apps() == Apps()


def test_apps_are_stored_as_they_were_given(schedules: ScheduleStore):
    app = App(taken=7, current=6, digest="d", handlers={"a.b": "a.py:1"}, schedules=(an_id(),))
    apps = Apps().with_app("shop", app).with_app("größe", App())
    first = replace(apps, revision=1)

    assert schedules.put_apps(first)
    assert schedules.apps() == first


def test_write_of_apps_is_refused_if_another_was_faster(schedules: ScheduleStore):
    first = take_generation(Apps(), "shop")
    assert schedules.put_apps(first)

    assert schedules.put_apps(first)  # repeated: the answer to the first was lost
    assert not schedules.put_apps(take_generation(Apps(), "other"))
    assert schedules.put_apps(take_generation(first, "shop"))
    assert schedules.apps().get("shop").taken == 2


def test_rivals_take_different_generations(schedules: ScheduleStore):
    barrier = Barrier(RIVALS)

    def take(rival: int) -> int:
        barrier.wait()
        while True:
            apps = replace(take_generation(schedules.apps(), "shop"), nonce=str(rival))
            if schedules.put_apps(apps):
                return apps.get("shop").taken

    with ThreadPoolExecutor(RIVALS) as pool:
        assert sorted(pool.map(take, range(RIVALS))) == list(range(1, RIVALS + 1))


@pytest.mark.parametrize("payload", [None, LONG], ids=["short", "long"])
def test_current_generation_writes_and_reads_a_declared_schedule(
    schedules: ScheduleStore, payload: Any
):
    current(schedules, 3)
    schedule = declared(3, task=a_spec(payload=payload))

    assert schedules.put_declared(schedule) == Applied(schedule)
    assert schedules.put_declared(schedule) == Applied(schedule)  # repeated
    assert schedules.get([schedule.id]) == {schedule.id: schedule}
    plan = replace(schedule.plan, name="other")
    changed = replace(schedule, plan=plan, revision=2, version=2)
    assert schedules.put_declared(changed) == Applied(changed)
    assert schedules.get([schedule.id]) == {schedule.id: changed}
    assert schedules.put_declared(replace(schedule, version=9)) == Refused(changed)


def test_ordinary_write_keeps_the_declaration(schedules: ScheduleStore):
    current(schedules, 3)
    schedule = declared(3)
    schedules.put_declared(schedule)
    later = replace(schedule, revision=2, runs=1)

    assert schedules.put([later]) == [Applied(later)]
    assert schedules.get([schedule.id]) == {schedule.id: later}


@pytest.mark.parametrize("generation", [2, 4])
def test_any_other_generation_is_superseded(schedules: ScheduleStore, generation: int):
    current(schedules, 2)
    kept = declared(2)
    schedules.put_declared(kept)
    current(schedules, 3)

    with pytest.raises(Superseded):
        schedules.put_declared(declared(generation))
    with pytest.raises(Superseded):
        schedules.put_declared(replace(kept, revision=2))
    with pytest.raises(Superseded):
        schedules.delete_declared(kept, generation)
    assert schedules.get([kept.id]) == {kept.id: kept}


def test_generations_of_two_apps_do_not_mix(schedules: ScheduleStore):
    current(schedules, 1)
    current(schedules, 5, "office")

    assert isinstance(schedules.put_declared(declared(1)), Applied)
    assert isinstance(schedules.put_declared(declared(5, "office")), Applied)
    with pytest.raises(Superseded):
        schedules.put_declared(declared(5))
    with pytest.raises(Superseded):
        schedules.put_declared(declared(1, "third"))


@pytest.mark.parametrize("payload", [None, LONG], ids=["short", "long"])
def test_declared_schedule_is_deleted_only_as_it_was_read(schedules: ScheduleStore, payload: Any):
    current(schedules, 1)
    schedule = declared(1, task=a_spec(payload=payload))
    schedules.put_declared(schedule)
    later = replace(schedule, revision=2, runs=1)
    schedules.put([later])

    assert schedules.delete_declared(schedule, 1) == Refused(later)
    assert schedules.delete_declared(later, 1) == Applied(later)
    assert schedules.get([schedule.id]) == {}
    assert schedules.delete_declared(later, 1) == Applied(later)  # repeated
    assert isinstance(schedules.put_declared(schedule), Applied)  # the id is free again
    assert schedules.get([schedule.id]) == {schedule.id: schedule}
