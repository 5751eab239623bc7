"""Who gets a slot: decisions about one line."""

from dataclasses import replace

import pytest

from duetime.core.lifecycle import Status
from duetime.core.limits.definition import LimitUse, OnDead
from duetime.core.limits.hand_over import START_GRACE, HandOver, hand_over, is_void, slot_for
from duetime.core.limits.slots import Line, LineState, Place, Slot
from duetime.core.task import ORDERING_KEY, Task
from duetime.core.times import HOUR, MINUTE
from tests.factories import NOW, a_running_task, a_sent_task, a_spec

LINE = Line(namespace="default", limit="one", key="")
ORDER = Line(namespace="default", limit=None, key="k")


def a_waiting_task(**overrides) -> Task:
    spec = a_spec(run_at=NOW, limits=(LimitUse(name="one"),))
    return a_sent_task(spec=spec, held=0, due_at=NOW, **overrides)


def an_ordered_task(order_at: int = NOW, **overrides) -> Task:
    given = {"held": ORDERING_KEY, "due_at": NOW} | overrides
    on_dead = given.pop("on_dead", OnDead.CONTINUE)
    spec = a_spec(run_at=NOW, ordering_key="k", on_dead=on_dead)
    task = a_sent_task(spec=spec, **given)
    return replace(task, spec=replace(task.spec, order_at=order_at))


def decide(line: Line, taken: list[Slot], waiting: list[Task], *others: Task, **given) -> HandOver:
    tasks = {task.id: task for task in (*waiting, *others)}
    position = lambda t: t.spec.order_at if line.limit is None else t.due_at  # noqa: E731
    places = [Place(position=position(task), task_id=task.id, since=NOW) for task in waiting]
    state = LineState(slots=taken, places=places)
    return hand_over(line, state, tasks, **({"slots": 1, "now": NOW, "deep": True} | given))


def test_a_free_slot_goes_to_the_first_in_line():
    first, second = a_waiting_task(), a_waiting_task()

    done = decide(LINE, [], [first, second])

    [grant] = done.grants
    assert (grant.task, grant.before, grant.after.token) == (first, None, first.token)
    assert done.watched


def test_a_slot_of_an_ended_attempt_is_replaced_and_one_of_a_running_attempt_is_not():
    running, ended = a_running_task(), replace(a_running_task(), status=Status.SUCCEEDED)
    slots = [slot_for(LINE, 0, running, NOW), slot_for(LINE, 1, ended, NOW)]
    waiting = [a_waiting_task(), a_waiting_task()]

    done = decide(LINE, slots, waiting, running, ended, slots=2)

    assert [grant.before for grant in done.grants] == [slots[1]]


def test_a_slot_whose_task_has_another_token_is_void_and_one_that_may_start_is_not():
    task = a_sent_task()
    slot = slot_for(LINE, 0, task, NOW)

    assert not is_void(slot, task)
    assert is_void(slot, replace(task, token="another"))
    assert is_void(slot, None)


@pytest.mark.parametrize(("slots", "granted"), [(1, 0), (2, 0), (3, 1)])
def test_slots_above_a_lowered_limit_count_until_they_are_free(slots: int, granted: int):
    running = [a_running_task() for _ in range(2)]
    taken = [slot_for(LINE, 5 + n, task, NOW) for n, task in enumerate(running)]

    done = decide(LINE, taken, [a_waiting_task(), a_waiting_task()], *running, slots=slots)

    assert len(done.grants) == granted


def test_a_holder_that_does_not_start_is_sent_again_and_keeps_its_slot():
    holder = a_sent_task(due_at=NOW)
    slot = slot_for(LINE, 0, holder, NOW)

    early = decide(LINE, [slot], [], holder, now=NOW + START_GRACE - 1)
    late = decide(LINE, [slot], [], holder, now=NOW + START_GRACE)

    assert (early.grants, early.watched) == ([], True)
    [grant] = late.grants
    assert grant.before is not None
    assert grant.before.names(grant.after)


def test_nothing_holds_a_task_back_when_its_limit_is_gone():
    waiting = [a_waiting_task() for _ in range(3)]
    running = a_running_task()

    done = decide(LINE, [slot_for(LINE, 0, running, NOW)], waiting, running, slots=None)

    assert [task for task, _ in done.sends] == waiting
    assert done.frees == []


def test_a_task_under_an_ordering_key_keeps_its_slot_through_its_retries():
    retrying = replace(an_ordered_task(held=None), status=Status.RETRYING, attempt=1, token="new")
    slot = slot_for(ORDER, 0, retrying, NOW)

    assert not is_void(slot, retrying)
    assert decide(ORDER, [slot], [an_ordered_task()], retrying).grants == []


@pytest.mark.parametrize("on_dead", list(OnDead))
def test_a_dead_task_lets_the_next_start_unless_it_blocks(on_dead: OnDead):
    dead = replace(an_ordered_task(held=None, on_dead=on_dead), status=Status.DEAD)
    slot = slot_for(ORDER, 0, dead, NOW)

    done = decide(ORDER, [slot], [an_ordered_task()], dead)

    assert len(done.grants) == (on_dead is OnDead.CONTINUE)


def test_a_first_task_that_is_not_due_holds_the_others_back():
    later = an_ordered_task(order_at=NOW - MINUTE, held=None, due_at=NOW + HOUR)

    done = decide(ORDER, [], [later, an_ordered_task()])

    assert (done.grants, done.leaves, done.watched) == ([], [], True)


def test_a_place_at_another_position_than_its_tasks_is_left():
    task = an_ordered_task(order_at=NOW + MINUTE)
    stale = Place(position=NOW, task_id=task.id, since=NOW)

    done = hand_over(ORDER, LineState(places=[stale]), {task.id: task}, slots=1, now=NOW)

    assert (done.leaves, done.grants) == ([stale], [])
