from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from duetime.core.fair_queue import FairQueue

GROUPS = st.sampled_from("abc")
ITEMS = st.lists(st.tuples(GROUPS, st.integers(0, 20)), max_size=40)


def popped(queue: FairQueue[int], now: int = 0) -> list[int]:
    found = []
    while (item := queue.pop(now)) is not None:
        found.append(item)
    return found


def test_groups_take_turns():
    queue: FairQueue[str] = FairQueue()
    for number in range(100):
        queue.push(f"noisy {number}", "noisy", 0)
    for number in range(3):
        queue.push(f"quiet {number}", "quiet", 1)

    first = [queue.pop(1) for _ in range(8)]

    assert [item for item in first if "quiet" in item] == ["quiet 0", "quiet 1", "quiet 2"]
    assert [item for item in first if "noisy" in item] == [f"noisy {n}" for n in range(5)]
    assert "quiet 0" in first[:2]


def test_a_group_that_arrives_late_waits_for_one_item_of_each_other_group():
    queue: FairQueue[str] = FairQueue()
    for number in range(100):
        queue.push(f"{number}", f"tenant {number % 4}", 0)
    for _ in range(10):
        queue.pop(0)

    queue.push("late", "another", 5)

    assert "late" in [queue.pop(5) for _ in range(5)]


@given(st.integers(1, 5), st.integers(2, 30))
def test_group_that_arrives_gets_the_next_turn(groups, popped_before):
    queue: FairQueue[str] = FairQueue()
    for number in range(200):
        queue.push("busy", f"tenant {number % groups}", 0)
    for _ in range(popped_before):
        queue.pop(0)
    for number in range(3):
        queue.push(f"quiet {number}", "quiet", 5)

    first = [queue.pop(5) for _ in range(2 * groups + 3)]

    places = [place for place, item in enumerate(first) if item != "busy"]
    assert places == [0, groups + 1, 2 * groups + 2]


@given(st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_groups_that_come_and_go_hold_up_no_one(groups, at_once, same):
    """New groups arrive before every pop, each with one item; half of the turns are of the others,
    and each of those has its turn."""
    queue: FairQueue[str] = FairQueue()
    for number in range(groups):
        for _ in range(100):
            queue.push(f"{number}", f"tenant {number}", 0)
    queue.pop(0)
    order = []
    for now in range(20 * groups):
        for number in range(at_once):
            queue.push("guest", f"guest {number if same else (now, number)}", now)
        order.append(queue.pop(now))
    for number in range(groups):
        mine = [place for place, item in enumerate(order) if item == f"{number}"]
        assert mine
        assert mine[0] <= 2 * groups + at_once * (2 * groups + 1)


@given(ITEMS, st.integers(0, 20))
def test_queue_returns_what_is_ready_and_keeps_the_rest(items, now):
    queue: FairQueue[int] = FairQueue()
    for number, (group, at) in enumerate(items):
        queue.push(number, group, at)
    ready = {number for number, (_, at) in enumerate(items) if at <= now}

    assert queue.ready(now) == len(ready)
    assert queue.ready(now, 3) == min(len(ready), 3)
    assert queue.oldest(now) == min((items[n][1] for n in ready), default=None)
    assert queue.next_at() == min((at for _, at in items), default=None)
    assert set(popped(queue, now)) == ready
    assert len(queue) == len(items) - len(ready)
    assert queue.next_at() == min((at for _, at in items if at > now), default=None)


@given(ITEMS)
def test_items_of_one_group_come_in_the_order_of_their_times(items):
    queue: FairQueue[int] = FairQueue()
    for number, (group, at) in enumerate(items):
        queue.push(number, group, at)
        queue.ready(10)  # those that are ready already stay in order, too
    order = popped(queue, 20)

    for name in "abc":
        mine = [(items[number][1], number) for number in order if items[number][0] == name]
        assert mine == sorted(mine)


@given(ITEMS)
def test_no_group_is_passed_by_twice_while_it_has_items(items):
    """Between two items of a group, each other group gives at most one."""
    queue: FairQueue[int] = FairQueue()
    for number, (group, _) in enumerate(items):
        queue.push(number, group, 0)
    order = [items[number][0] for number in popped(queue)]

    for name in set(order):
        places = [-1, *(place for place, group in enumerate(order) if group == name)]
        for before, after in pairwise(places):
            between = order[before + 1 : after]
            assert len(between) == len(set(between))


@given(st.lists(st.tuples(GROUPS, st.integers(0, 8)) | st.integers(0, 3), max_size=60))
def test_queue_that_is_filled_while_it_is_read_loses_and_repeats_nothing(acts):
    """A number lets so much time pass and pops; anything else is pushed."""
    queue: FairQueue[int] = FairQueue()
    left: dict[int, tuple[str, int]] = {}
    now = 0
    for number, act in enumerate(acts):
        if isinstance(act, tuple):
            group, delay = act
            queue.push(number, group, now + delay)
            left[number] = (group, now + delay)
            continue
        now += act
        item = queue.pop(now)
        ready = [n for n, (_, at) in left.items() if at <= now]
        if not ready:
            assert item is None
            continue
        of_its_group = [n for n in ready if left[n][0] == left[item][0]]
        assert item == min(of_its_group, key=lambda n: (left[n][1], n))
        del left[item]
        assert queue.ready(now) == len(ready) - 1
        assert len(queue) == len(left)
        assert queue.next_at() == min((at for _, at in left.values()), default=None)
