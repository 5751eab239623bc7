"""The window of a map, and how a map ends."""

import random

from hypothesis import given
from hypothesis import strategies as st

from duetime.core.workflows.advance import End
from duetime.core.workflows.maps import advance_map, item_task_id, map_result, retry_map, start_map
from duetime.core.workflows.run import StepState
from tests.core.workflows.runs import MOMENT, a_map_spec
from tests.factories import an_id


def an_item_end(run, index, state):
    return End(position=index, state=StepState(state), task_id=item_task_id(run, index))


def a_map(*args):
    return start_map(an_id(), a_map_spec(*args), **MOMENT)


@given(st.integers(0, 40), st.integers(1, 9), st.integers(0, 3), st.integers())
def test_map_fills_its_window_and_never_exceeds_it(items, window, tolerated, seed):
    chance, run = random.Random(seed), a_map(items, window, tolerated)
    while not run.status.over:
        failed = map_result(run)["failed"]
        under_way = [n for n, state in enumerate(run.states) if state == "p"]
        assert len(under_way) <= window
        assert failed > tolerated or len(under_way) == window or "w" not in run.states
        some = chance.sample(under_way, chance.randint(1, len(under_way)))
        ends = [an_item_end(run, n, chance.choice("sssdc")) for n in some]
        run = advance_map(run, ends, **MOMENT)
    result = map_result(run)
    assert (run.status == "FAILED") == (result["failed"] > tolerated)
    assert run.status == "FAILED" or result["succeeded"] + result["failed"] == items


def test_retry_of_a_map_revives_dead_items_within_the_window_and_goes_on():
    run = a_map(6, 2)
    run = advance_map(run, [an_item_end(run, 0, "d"), an_item_end(run, 1, "c")], **MOMENT)
    assert (run.status, run.states) == ("FAILED", "dcwwww")
    again = retry_map(run, {}, **MOMENT)
    assert (again.status, again.states, again.generations) == ("RUNNING", "ppwwww", "121111")


def test_late_success_of_an_item_resumes_its_map():
    run = a_map(3, 1)
    run = advance_map(run, [an_item_end(run, 0, "d")], **MOMENT)
    run = advance_map(run, [an_item_end(run, 0, "s")], **MOMENT)
    assert (run.status, run.states, run.attempt, run.error) == ("RUNNING", "spw", 2, None)
