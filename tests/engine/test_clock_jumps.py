"""Detection of a wall clock that was set. For its effects see tests/executor/test_clock_set.py."""

import time

import pytest

from duetime.core.times import HOUR, MINUTE
from duetime.engine.clock import JUMP_TOLERANCE, ClockJumps, SystemClock
from tests.factories import SteppedClock


@pytest.mark.parametrize("by", [HOUR, -HOUR, JUMP_TOLERANCE + 1, -JUMP_TOLERANCE - 1])
def test_clock_that_was_set_is_seen_once(by):
    clock = SteppedClock()
    jumps = ClockJumps(clock)
    clock.set_by(by)

    assert [jumps.seen() for _ in range(3)] == [True, False, False]


def test_time_that_passes_is_no_jump():
    clock = SteppedClock()
    jumps = ClockJumps(clock)
    clock.advance(HOUR)

    assert not jumps.seen()


def test_slow_adjustment_of_the_clock_is_no_jump():
    clock = SteppedClock()
    jumps = ClockJumps(clock)
    seen = []
    for _ in range(100):
        clock.advance(MINUTE)
        clock.set_by(JUMP_TOLERANCE)
        seen.append(jumps.seen())

    assert not any(seen)


def test_system_clock_counts_spans_without_the_wall_clock(monkeypatch: pytest.MonkeyPatch):
    clock = SystemClock()
    before = clock.now(), clock.monotonic()
    monkeypatch.setattr(time, "time_ns", lambda: 0)

    assert clock.now() == 0
    assert before[1] <= clock.monotonic() < before[1] + HOUR
