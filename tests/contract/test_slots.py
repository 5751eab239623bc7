"""The slots and lines of limits."""

import pytest

from duetime.core.lanes import Lane
from duetime.core.limits.slots import HEADS, Line, Place, Slot, SlotStore, SlotWrite, line_of
from duetime.core.times import SECOND
from duetime.core.wakes import WakeKind
from tests.backends import Stores
from tests.factories import NOW, WAKE_POLICY, an_id

LINE = Line(namespace="default", limit="stripe", key="acct-7")
OTHER = Line(namespace="default", limit="stripe", key="")


@pytest.fixture
def slots(stores: Stores) -> SlotStore:
    return stores.slots


def a_slot(number: int = 0, since: int = NOW) -> Slot:
    return Slot(number=number, task_id=an_id(), token=f"{NOW:013d}-{an_id()}", since=since)


def replaced(slots: SlotStore, before: Slot | None, after: Slot | None, line: Line = LINE) -> bool:
    [made] = slots.replace([SlotWrite(line=line, before=before, after=after)])
    return made


def stored(slots: SlotStore, line: Line = LINE) -> list[Slot]:
    [state] = slots.read([line])
    return list(state.slots)


def a_place(position: int = NOW, task_id: str | None = None) -> Place:
    return Place(position=position, task_id=task_id or an_id(), since=NOW)


def test_a_free_slot_is_taken_once(slots: SlotStore):
    first, second = a_slot(), a_slot()

    assert replaced(slots, None, first)
    assert not replaced(slots, None, second)
    assert stored(slots) == [first]
    assert stored(slots, OTHER) == []


def test_a_repeated_write_recognises_itself(slots: SlotStore):
    first, second = a_slot(), a_slot()

    assert [replaced(slots, None, first), replaced(slots, None, first)] == [True, True]
    assert [replaced(slots, first, second), replaced(slots, first, second)] == [True, True]
    assert [replaced(slots, second, None), replaced(slots, second, None)] == [True, True]
    assert stored(slots) == []


def test_a_slot_is_handed_over_and_freed_only_by_what_it_names(slots: SlotStore):
    first, second, third = a_slot(), a_slot(), a_slot()
    replaced(slots, None, first)

    assert replaced(slots, first, second)
    assert not replaced(slots, first, None)
    assert not replaced(slots, first, third)
    assert stored(slots) == [second]


def test_a_slot_of_another_token_of_the_same_task_is_another(slots: SlotStore):
    first = a_slot()
    again = Slot(number=0, task_id=first.task_id, token="new", since=NOW)
    replaced(slots, None, first)

    assert not replaced(slots, again, None)
    assert not replaced(slots, None, again)


def test_slots_are_read_in_their_order_with_the_first_places(slots: SlotStore):
    taken = [a_slot(n) for n in (99, 3, 0)]
    for slot in taken:
        replaced(slots, None, slot)
    places = [a_place(NOW + n * SECOND) for n in range(HEADS + 2)]
    slots.join([(LINE, place) for place in reversed(places)])

    [state] = slots.read([LINE])

    assert list(state.slots) == [taken[2], taken[1], taken[0]]
    assert list(state.places) == places[:HEADS]
    assert slots.count_waiting(LINE) == HEADS + 2


def test_more_slots_than_one_page_of_rows(slots: SlotStore):
    slots.replace([SlotWrite(line=LINE, before=None, after=a_slot(n)) for n in range(100)])
    place = a_place()
    slots.join([(LINE, place)])

    [state] = slots.read([LINE])

    assert [slot.number for slot in state.slots] == list(range(100))
    assert list(state.places) == [place]


def test_places_are_ordered_by_position_and_then_by_id(slots: SlotStore):
    ids = sorted(an_id() for _ in range(3))
    late, early = a_place(NOW + 1, ids[0]), a_place(NOW, ids[2])
    beside = a_place(NOW, ids[1])
    slots.join([(LINE, late), (LINE, early), (LINE, beside), (LINE, beside)])

    [state] = slots.read([LINE])

    assert list(state.places) == [beside, early, late]


def test_a_place_is_left_once_and_can_be_looked_up(slots: SlotStore):
    here, there = a_place(), a_place()
    slots.join([(LINE, here), (OTHER, there)])
    slots.leave([(LINE, here), (LINE, here)])

    found = slots.waiting([(LINE, here), (OTHER, there), (LINE, there)])

    assert found == [False, True, False]


def test_the_watch_of_a_line_is_in_the_wake_index_and_moves_under_a_condition(stores: Stores):
    slots = stores.slots
    first = WAKE_POLICY.wake(WakeKind.LINE, LINE.id, Lane.HIGH, NOW, now=NOW)
    later = WAKE_POLICY.wake(WakeKind.LINE, LINE.id, Lane.HIGH, NOW + SECOND, now=NOW)

    assert slots.watch_of(LINE) is None
    assert slots.move_watch(LINE, None, first)
    assert slots.move_watch(LINE, None, first)
    assert not slots.move_watch(LINE, None, later)
    assert not slots.move_watch(LINE, later, None)
    assert stores.tasks.few_wakes(10) == [first]
    assert line_of(first.task_id) == LINE

    assert slots.move_watch(LINE, first, later)
    assert slots.watch_of(LINE) == later
    assert slots.move_watch(LINE, later, None)
    assert slots.move_watch(LINE, later, None)
    assert slots.watch_of(LINE) is None
    assert stores.tasks.few_wakes(10) == []


def test_a_limit_is_in_use_while_a_slot_is_taken_or_a_task_waits(slots: SlotStore):
    assert not slots.in_use("default", "stripe")
    taken = a_slot()
    replaced(slots, None, taken, OTHER)
    assert slots.in_use("default", "stripe")
    assert not slots.in_use("default", "strip")
    assert not slots.in_use("other", "stripe")

    replaced(slots, taken, None, OTHER)
    slots.join([(OTHER, a_place())])
    assert slots.in_use("default", "stripe")


@pytest.mark.parametrize("key", ["", "a/b", "50%", "#1", "%2F", "ключ-7", "/", "%"])
def test_the_id_of_a_line_keeps_any_key(key: str):
    line = Line(namespace="ns", limit="stripe", key=key)

    assert line_of(line.id) == line
    assert "#" not in line.id
    assert line_of(Line(namespace="ns", limit=None, key=key).id).limit is None
