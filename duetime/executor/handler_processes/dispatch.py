"""Decides which task goes to which handler process, and what becomes of it there.

No I/O and no clock: the pool passes in what has arrived and carries out what is returned, and the
model test (tests/executor/test_process_dispatch.py) does so in every order.

A call is in exactly one place: `waiting`, or sent to one process. It moves from a process back to
`waiting` only when the process has confirmed that it has not begun it, or has died without having
begun it. So no call is begun twice.
"""

from collections import deque
from collections.abc import Iterable
from math import ceil
from typing import Any

from duetime.core.times import SECOND, Millis
from duetime.core.value import value

LIST_TIME = 20.0  # milliseconds of work in one list
LONGEST_LIST = 100
RECALL_AFTER: Millis = SECOND  # of a task that was sent and has not begun
KILL_AFTER: Millis = 5 * SECOND  # of a process whose handler does not end after an interrupt
MEAN_WEIGHT = 0.2  # of the latest duration in the mean


@value(slots=True)
class Call:
    """A task that a handler process is to run. `run` belongs to the pool."""

    number: int
    handler: str
    run: Any
    sent_at: Millis = 0
    begun_at: Millis | None = None
    place: int = -1  # in the shared memory of its process
    avoid: int | None = None  # the process that has given it back
    recalled: bool = False  # the process was asked to give it back
    kill_at: Millis | None = None  # of its process, once it was interrupted


class Process:
    """One process. `sent` has the calls that it holds, in the order in which it begins them."""

    def __init__(self, number: int, threads: int, places: int) -> None:
        self.number = number
        self.threads = threads
        self.ready = False
        self.retired = False  # gets nothing more
        self.not_begun: dict[int, Call] = {}
        self.begun: dict[int, Call] = {}
        self.free_places = list(range(places))

    @property
    def sent(self) -> list[Call]:
        return [*self.begun.values(), *self.not_begun.values()]

    @property
    def empty(self) -> bool:
        return not self.begun and not self.not_begun

    def find(self, number: int) -> Call | None:
        return self.begun.get(number) or self.not_begun.get(number)

    def remove(self, number: int) -> Call | None:
        call = self.begun.pop(number, None) or self.not_begun.pop(number, None)
        if call is not None:
            self.free_places.append(call.place)
        return call


class Dispatch:
    def __init__(self) -> None:
        self.waiting: deque[Call] = deque()
        self.processes: dict[int, Process] = {}
        self._means: dict[str, float] = {}  # milliseconds by handler

    def process_of(self, call: Call) -> Process | None:
        """Returns the process that a call was sent to, unless it has ended or waits."""
        return next((p for p in self._all() if p.find(call.number) is call), None)

    def expected(self, handler: str) -> float:
        """Returns the milliseconds that a run is expected to take; a whole list of an unknown
        handler."""
        return min(self._means.get(handler, LIST_TIME), LIST_TIME)

    def hand_out(self, now: Millis) -> Iterable[tuple[int, list[Call]]]:
        """Yields lists of calls, each with the process to send it to."""
        share = 0
        while self.waiting:
            available = [p for p in self.processes.values() if self._has_room(p)]
            if not available:
                return
            share = share or ceil(len(self.waiting) / len(available))
            avoid = self.waiting[0].avoid
            others = [p for p in available if p.number != avoid] or available
            process = min(others, key=lambda p: (self._backlog(p), len(p.begun)))
            yield process.number, self._take_list(process, share, now)

    def _has_room(self, process: Process) -> bool:
        """Whether a process may get more: it has a thread for it, and begins it soon."""
        if not process.ready or process.retired or not process.free_places:
            return False
        return len(process.begun) < process.threads and self._backlog(process) <= LIST_TIME / 2

    def _backlog(self, process: Process) -> float:
        return sum(self.expected(call.handler) for call in process.not_begun.values())

    def _take_list(self, process: Process, share: int, now: Millis) -> list[Call]:
        most = min(share, LONGEST_LIST, len(process.free_places))
        calls: list[Call] = []
        time = 0.0
        while self.waiting and len(calls) < most and time < LIST_TIME:
            call = self.waiting.popleft()
            time += self.expected(call.handler)
            call.sent_at, call.recalled = now, False
            call.place = process.free_places.pop()
            process.not_begun[call.number] = call
            calls.append(call)
        return calls

    def mark_begun(self, process: Process, flags: Any, now: Millis) -> None:
        """Notes what the process has begun, from its shared memory."""
        for call in list(process.not_begun.values()):
            if flags[call.place]:
                del process.not_begun[call.number]
                call.begun_at = now
                process.begun[call.number] = call

    def ended(self, process: Process, number: int, took: float) -> Call | None:
        call = process.remove(number)
        if call is not None:
            before = self._means.get(call.handler, took)
            self._means[call.handler] = before + MEAN_WEIGHT * (took - before)
        return call

    def recalls(self, now: Millis) -> Iterable[tuple[int, list[int]]]:
        """Yields the numbers of calls to recall, with their process. A recall needs another process
        that can begin them."""
        for process in self.processes.values():
            late = [
                call
                for call in process.not_begun.values()
                if not call.recalled and (process.retired or now - call.sent_at >= RECALL_AFTER)
            ]
            if late and any(p is not process and self._has_room(p) for p in self._all()):
                for call in late:
                    call.recalled = True
                yield process.number, [call.number for call in late]

    def _all(self) -> Iterable[Process]:
        return self.processes.values()

    def recalled(self, process: Process, numbers: Iterable[int]) -> None:
        """The process has confirmed that it does not begin these calls."""
        self._put_back(process, [c for n in numbers if (c := process.remove(n)) is not None])

    def _put_back(self, process: Process, calls: list[Call]) -> None:
        for call in calls:
            call.avoid = process.number
        self.waiting.extendleft(reversed(calls))

    def died(self, number: int, flags: Any, now: Millis) -> list[Call]:
        """Removes a process that has ended. Returns the calls that end with it: those that it had
        begun, and those that were to be stopped. The others wait for another process."""
        process = self.processes.pop(number)
        self.mark_begun(process, flags, now)
        ended = list(process.begun.values())
        ended += [call for call in process.not_begun.values() if call.kill_at is not None]
        unbegun = [call for call in process.not_begun.values() if call.kill_at is None]
        self._put_back(process, unbegun)
        return ended

    def to_kill(self, now: Millis) -> list[int]:
        """Returns the processes with a handler that has not ended after its interrupt."""
        return [
            process.number
            for process in self.processes.values()
            if any(c.kill_at is not None and c.kill_at <= now for c in process.sent)
        ]

    def next_timer(self, now: Millis) -> Millis | None:
        """Returns when to look again for calls to recall and processes to kill."""
        timers = []
        for process in self.processes.values():
            if process.not_begun:
                first = next(iter(process.not_begun.values()))
                timers.append(max(first.sent_at + RECALL_AFTER, now + RECALL_AFTER // 10))
            timers += [call.kill_at for call in process.sent if call.kill_at is not None]
        return min(timers, default=None)
