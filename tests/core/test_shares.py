from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.core.lanes import Lane
from duetime.core.shares import ALL, Shares, Weights, parse_weights

FULL = dict.fromkeys(Lane, 1_000)


@st.composite
def weights(draw: st.DrawFn) -> Weights:
    high = draw(st.integers(1, ALL - 2))
    medium = draw(st.integers(1, ALL - 1 - high))
    return Weights(high=high, medium=medium, low=ALL - high - medium)


READY = st.dictionaries(st.sampled_from(list(Lane)), st.integers(0, 50))
ROUNDS = st.lists(st.tuples(st.integers(0, 30), READY), max_size=30)


@given(weights(), st.lists(st.integers(1, 40), min_size=1), st.booleans())
def test_full_lanes_start_tasks_in_proportion_to_their_weights(given_weights, frees, counted):
    """However the slots come free, and whether all ready tasks are counted or only as many as there
    are slots: within 5 points over 1,000 starts."""
    shares, started = Shares(given_weights), Counter()
    while started.total() < 1_000:
        for free in frees:
            ready = FULL if counted else dict.fromkeys(Lane, free)
            started.update(shares.hand_out(free, ready))

    for lane in Lane:
        share = started[lane] / started.total() * ALL
        assert abs(share - given_weights.of(lane)) < 5


@given(weights(), ROUNDS, st.sampled_from(list(Lane)), st.integers(1, 300))
def test_one_lane_alone_gets_every_slot(given_weights, before, lane, slots):
    shares = Shares(given_weights)
    for free, ready in before:
        shares.hand_out(free, ready)

    assert shares.hand_out(slots, {lane: slots}) == {lane: slots}


@given(weights(), ROUNDS)
def test_no_slot_stays_free_while_a_lane_has_work(given_weights, rounds):
    shares = Shares(given_weights)
    for free, ready in rounds:
        handed = shares.hand_out(free, ready)

        assert sum(handed.values()) == min(free, sum(ready.values()))
        assert all(0 < count <= ready[lane] for lane, count in handed.items())


@given(weights(), ROUNDS, st.sampled_from(list(Lane)))
def test_no_lane_waits_for_more_than_the_turns_of_the_others(given_weights, before, lane):
    shares = Shares(given_weights)
    for free, ready in before:
        shares.hand_out(free, ready)

    assert lane in shares.hand_out(ALL, FULL)


def weights_ignored(shares: Shares, given_weights: Weights) -> None:
    real_init(shares, given_weights)
    shares._turns = dict.fromkeys(Lane, 1)


def idle_share_not_lent(shares: Shares, slots: int, ready: Mapping[Lane, int]) -> dict[Lane, int]:
    """A lane without work keeps its turn: its slots stay free."""
    given = real_hand_out(shares, slots, FULL)
    return {lane: min(count, ready.get(lane, 0)) for lane, count in given.items()}


real_init, real_hand_out = Shares.__init__, Shares.hand_out


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "mutant", "law"),
    [
        (
            "__init__",
            weights_ignored,
            test_full_lanes_start_tasks_in_proportion_to_their_weights,
        ),
        ("hand_out", idle_share_not_lent, test_one_lane_alone_gets_every_slot),
        ("hand_out", idle_share_not_lent, test_no_slot_stays_free_while_a_lane_has_work),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_broken_shares_are_noticed(method, mutant, law, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Shares, method, mutant)

    with pytest.raises(AssertionError):
        law()


def test_a_lent_share_is_not_given_back_later():
    """A lane that was idle for long gets its weight, not what it has missed."""
    shares = Shares(Weights())
    shares.hand_out(10_000, {Lane.LOW: 10_000})

    assert shares.hand_out(100, FULL) == {Lane.HIGH: 60, Lane.MEDIUM: 30, Lane.LOW: 10}


def test_weights_are_read_from_text():
    assert parse_weights("50/30/20") == Weights(high=50, medium=30, low=20)
    assert str(Weights()) == "60/30/10"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("60/30", "'60/30' is not three whole numbers like 60/30/10"),
        ("a/b/c", "'a/b/c' is not three whole numbers like 60/30/10"),
        ("60/30/+10", "'60/30/\\+10' is not three whole numbers"),
        ("60/30/1.0", "not three whole numbers"),
        ("", "not three whole numbers"),
        ("60/30/20", "must add up to 100, not 60 \\+ 30 \\+ 20"),
        ("70/30/0", "at least 1: a lane with 0 would starve"),
    ],
)
def test_bad_weights_are_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        parse_weights(text)
