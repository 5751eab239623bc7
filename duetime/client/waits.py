"""Calls that wait for a task to end."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from duetime.client.calls import Call, Item, Pause, send
from duetime.client.errors import Throttled, Unreachable, WaitTimeout
from duetime.client.requests import task_path
from duetime.client.types import Task
from duetime.core.errors import DuetimeError
from duetime.core.lifecycle import FINISHED

LONGEST_WAIT = 20  # seconds that one request may wait for a change; the local runner can
FIRST_PAUSE, PAUSE_FACTOR, LONGEST_PAUSE = 0.2, 1.5, 5.0  # between polls of a deployed API
SILENT_PAUSE = 0.5  # between two tries while there is no answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long a wait goes on without answers: a runner may be restarting. `on_silence` gets the
    first error of each silence."""

    seconds: float
    on_silence: Callable[[DuetimeError], None]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class Reading:
    task: Task
    waited: bool = False  # the server answered when there was something new, or after the wait

    @property
    def ended(self) -> bool:
        return self.task["status"] in FINISHED


def follow(task_id: str, patience: Patience, *, timeout: float | None, poll: float) -> Call[None]:
    """Yields the task every `poll` seconds until it has ended."""
    clock = patience.clock
    deadline = math.inf if timeout is None else clock() + timeout
    reading = yield from _read(task_id)
    while True:
        yield Item(reading.task)
        if reading.ended:
            return
        left = _time_left(reading, deadline - clock(), timeout)
        yield Pause(min(poll, left))
        reading = yield from _read_again(task_id, patience, deadline, pause=poll)


def wait(
    task_id: str, patience: Patience, *, timeout: float | None, poll: float | None
) -> Call[Task]:
    """Returns the task once it has ended. Unless `poll` sets a pause between polls, the server may
    answer when the status changes; if it does not wait, the pause grows."""
    clock = patience.clock
    deadline = math.inf if timeout is None else clock() + timeout
    asked = clock()
    seconds = _longest(timeout, poll)
    reading = yield from _read(task_id, seconds)
    pause = FIRST_PAUSE if poll is None else poll
    before = None
    while not reading.ended:
        left = _time_left(reading, deadline - clock(), timeout)
        # A server that waits answers early only with another status.
        early = reading.task["status"] == before and clock() - asked < (seconds or 0)
        before = reading.task["status"]
        if not reading.waited or early:
            yield Pause(min(pause, left))
            pause = min(pause * PAUSE_FACTOR, LONGEST_PAUSE) if poll is None else poll
        asked = clock()
        seconds = _longest(deadline - asked, poll)
        reading = yield from _read_again(
            task_id, patience, deadline, pause=poll or SILENT_PAUSE, seconds=seconds
        )
    return reading.task


def _longest(left: float | None, poll: float | None) -> int | None:
    """Returns how long the server may wait; None: it answers at once."""
    if poll is not None:
        return None
    seconds = LONGEST_WAIT if left is None else int(min(left, LONGEST_WAIT))
    return seconds if seconds > 0 else None


def _time_left(reading: Reading, left: float, timeout: float | None) -> float:
    if timeout is not None and left <= 0:
        raise WaitTimeout(reading.task, timeout)
    return left


def _read(task_id: str, seconds: int | None = None) -> Call[Reading]:
    answer = yield from send("GET", task_path(task_id), wait=seconds)
    return Reading(answer.value, answer.waited)


def _read_again(
    task_id: str,
    patience: Patience,
    deadline: float,
    *,
    pause: float,
    seconds: int | None = None,
) -> Call[Reading]:
    """Reads a task that was there before, and retries while Duetime does not answer."""
    clock = patience.clock
    give_up = min(clock() + patience.seconds, deadline)
    reported = False
    while True:
        try:
            return (yield from _read(task_id, seconds))
        except (Unreachable, Throttled) as error:
            left = give_up - clock()
            if left <= 0:
                raise
            if not reported:
                patience.on_silence(error)
            reported = True
        yield Pause(min(pause, left))
        seconds = None if seconds is None else _longest(give_up - clock(), None)
