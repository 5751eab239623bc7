"""What a sync does to one schedule."""

from dataclasses import replace

import pytest

from duetime.core.schedules import changes
from duetime.core.schedules.apps import App, Apps, Superseded, SyncConflict, begin_sync, finish_sync
from duetime.core.schedules.declarations import Action, decide, detach, redeclare, remove
from duetime.core.schedules.plan import Declared
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.times import MINUTE
from tests.factories import NOW, WAKE_POLICY, a_schedule

ORIGIN = Declared(app="shop", source="a.py:1", digest="d", generation=5)


def declared(**fields: object) -> Schedule:
    return a_schedule(declared=replace(ORIGIN, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stored", "action"),
    [
        (None, Action.CREATE),
        (a_schedule(), Action.DETACHED),
        (declared(), Action.SAME),
        (declared(source="b.py:2"), Action.SAME),
        (declared(digest="other"), Action.CHANGE),
        (declared(removed=4), Action.CHANGE),
    ],
)
def test_action_depends_on_what_is_stored(stored: Schedule | None, action: Action):
    assert decide(stored, ORIGIN) is action


def test_row_of_a_newer_generation_is_left_alone():
    newer = declared(generation=6, digest="other")

    with pytest.raises(Superseded):
        decide(newer, ORIGIN)
    with pytest.raises(Superseded):
        remove(WAKE_POLICY, newer, 5, NOW)


def test_declaration_that_moved_is_one_write_without_a_new_version():
    schedule = declared()
    moved = replace(schedule.plan, declared=replace(ORIGIN, source="a.py:9"))

    changed = redeclare(WAKE_POLICY, schedule, moved, NOW + MINUTE)

    assert changed is not None
    after = changed.schedule
    assert (after.version, after.revision) == (schedule.version, schedule.revision + 1)
    assert (after.plan, after.wake, changed.ledger_entries) == (moved, schedule.wake, ())
    assert redeclare(WAKE_POLICY, after, moved, NOW) is None


def test_removal_pauses_and_return_resumes_in_one_write_each():
    schedule = declared()
    removed = remove(WAKE_POLICY, schedule, 6, NOW).schedule
    assert (removed.status, removed.revision) == (ScheduleStatus.PAUSED, schedule.revision + 1)

    plan = replace(schedule.plan, declared=replace(ORIGIN, generation=7))
    back = redeclare(WAKE_POLICY, removed, plan, NOW + MINUTE)

    assert back is not None
    assert (back.schedule.status, back.schedule.note) == (ScheduleStatus.ACTIVE, None)
    assert back.schedule.revision == removed.revision + 1
    assert back.schedule.plan == plan


def test_pause_of_a_person_is_not_resumed():
    paused = changes.pause(WAKE_POLICY, declared(), NOW, "holidays").schedule
    removed = remove(WAKE_POLICY, paused, 6, NOW).schedule
    plan = replace(paused.plan, declared=replace(ORIGIN, generation=7))

    back = redeclare(WAKE_POLICY, removed, plan, NOW)

    assert back is not None
    assert (back.schedule.status, back.schedule.note) == (ScheduleStatus.PAUSED, "holidays")


def test_detached_schedule_keeps_its_version():
    schedule = declared()
    after = detach(schedule, NOW).schedule

    assert (after.plan.declared, after.version) == (None, schedule.version)


def test_sync_begins_with_the_ids_of_both_and_ends_with_its_own():
    apps = Apps(by_name={"shop": App(taken=2, current=1, schedules=("a", "b"))})
    given = {"digest": "d", "handlers": {"h": "a.py:1"}, "schedules": ["b", "c"]}

    begun = begin_sync(apps, "shop", 2, **given)  # type: ignore[arg-type]

    assert begun.get("shop").schedules == ("a", "b", "c")
    assert begin_sync(begun, "shop", 2, **given) is begun  # type: ignore[arg-type]
    assert finish_sync(begun, "shop", 2, ["c", "b"]).get("shop").schedules == ("b", "c")
    assert finish_sync(begun, "shop", 1, []) is begun  # superseded
    with pytest.raises(SyncConflict):
        begin_sync(begun, "shop", 2, **{**given, "digest": "other"})  # type: ignore[arg-type]
