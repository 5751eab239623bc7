"""Calls that wait for a task or a run to end."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from duetime.client.calls import Call, Item, Pause, send
from duetime.client.errors import Throttled, Unreachable, WaitTimeout
from duetime.client.requests import run_path, task_path
from duetime.core.errors import DuetimeError
from duetime.core.lifecycle import FINISHED
from duetime.core.workflows.run import RunStatus

LONGEST_WAIT = 20  # seconds that one request may wait for a change; the local runner can
FIRST_PAUSE, PAUSE_FACTOR, LONGEST_PAUSE = 0.2, 1.5, 5.0  # between polls of a deployed API
RUN_ENDS = frozenset(status for status in RunStatus if status.over)
SILENT_PAUSE = 0.5  # between two tries while there is no answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long a wait goes on without answers: a runner may be restarting. `on_silence` gets the
    first error of each silence."""

    seconds: float
    on_silence: Callable[[DuetimeError], None]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Waited:
    """What a call waits for: where it is, and the statuses in which it has ended."""

    path: str
    ends: Collection[str]


@dataclass(frozen=True, slots=True)
class Reading:
    value: Any  # the task or the run
    ended: bool
    waited: bool = False  # the server answered when there was something new, or after the wait


def task(task_id: str) -> Waited:
    return Waited(task_path(task_id), FINISHED)


def run(run_id: str) -> Waited:
    return Waited(run_path(run_id), RUN_ENDS)


def follow(what: Waited, patience: Patience, *, timeout: float | None, poll: float) -> Call[None]:
    """Yields the task or run every `poll` seconds until it has ended."""
    clock = patience.clock
    deadline = math.inf if timeout is None else clock() + timeout
    reading = yield from _read(what)
    while True:
        yield Item(reading.value)
        if reading.ended:
            return
        left = _time_left(reading, deadline - clock(), timeout)
        yield Pause(min(poll, left))
        reading = yield from _read_again(what, patience, deadline, pause=poll)


def wait(
    what: Waited, patience: Patience, *, timeout: float | None, poll: float | None
) -> Call[Any]:
    """Returns the task or run once it has ended. Unless `poll` sets a pause between polls, the
    server may answer when the status changes; if it does not wait, the pause grows."""
    clock = patience.clock
    deadline = math.inf if timeout is None else clock() + timeout
    asked = clock()
    seconds = _longest(timeout, poll)
    reading = yield from _read(what, seconds)
    pause = FIRST_PAUSE if poll is None else poll
    before = None
    while not reading.ended:
        left = _time_left(reading, deadline - clock(), timeout)
        # A server that waits answers early only with another status.
        early = reading.value["status"] == before and clock() - asked < (seconds or 0)
        before = reading.value["status"]
        if not reading.waited or early:
            yield Pause(min(pause, left))
            pause = min(pause * PAUSE_FACTOR, LONGEST_PAUSE) if poll is None else poll
        asked = clock()
        seconds = _longest(deadline - asked, poll)
        reading = yield from _read_again(
            what, patience, deadline, pause=poll or SILENT_PAUSE, seconds=seconds
        )
    return reading.value


def _longest(left: float | None, poll: float | None) -> int | None:
    """Returns how long the server may wait; None: it answers at once."""
    if poll is not None:
        return None
    seconds = LONGEST_WAIT if left is None else int(min(left, LONGEST_WAIT))
    return seconds if seconds > 0 else None


def _time_left(reading: Reading, left: float, timeout: float | None) -> float:
    if timeout is not None and left <= 0:
        raise WaitTimeout(reading.value, timeout)
    return left


def _read(what: Waited, seconds: int | None = None) -> Call[Reading]:
    answer = yield from send("GET", what.path, wait=seconds)
    return Reading(answer.value, answer.value["status"] in what.ends, answer.waited)


def _read_again(
    what: Waited,
    patience: Patience,
    deadline: float,
    *,
    pause: float,
    seconds: int | None = None,
) -> Call[Reading]:
    """Reads what was there before, and retries while Duetime does not answer."""
    clock = patience.clock
    give_up = min(clock() + patience.seconds, deadline)
    reported = False
    while True:
        try:
            return (yield from _read(what, seconds))
        except (Unreachable, Throttled) as error:
            left = give_up - clock()
            if left <= 0:
                raise
            if not reported:
                patience.on_silence(error)
            reported = True
        yield Pause(min(pause, left))
        seconds = None if seconds is None else _longest(give_up - clock(), None)
