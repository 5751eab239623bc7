"""Which attempt of an isolated handler gets which template, with a stepped clock and no process."""

import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any, cast

import pytest

from duetime.executor.isolation import templates
from duetime.executor.isolation.template import Template
from duetime.executor.isolation.templates import (
    IDLE_LOOKS,
    PATIENCE,
    START_TIME,
    Templates,
)
from duetime.handlers import sources

WAIT = 60.0  # seconds; a wait that long is a failure
CORES = 2


class FakeTemplate:
    def __init__(self) -> None:
        self.sources = sources.kept()
        self.used_at = 0.0
        self.usable = True
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Attempt:
    """Takes a template in a thread of its own, and holds it until it ends."""

    def __init__(self, machine: "Machine") -> None:
        self._machine = machine
        self.begun_with: Any = None
        self._got: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        try:
            self._got.put(self._machine.templates.take(self._begin))
        except OSError as error:
            self._got.put(error)

    def _begin(self, template: Template) -> None:
        self.begun_with = template

    def template(self) -> Any:
        return self._got.get(timeout=WAIT)

    @property
    def waits(self) -> bool:
        return any(waiter.begin == self._begin for waiter in self._machine.templates._waiting)


class Machine:
    """`templates`, on a machine whose idle cores and time a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.idle = False
        self.started: list[FakeTemplate] = []
        self.refused = False
        self.templates = Templates(self._start, now=lambda: self.now, idle_core=lambda: self.idle)

    def _start(self) -> Template:
        if self.refused:
            raise OSError("no more processes")
        self.started.append(FakeTemplate())
        return cast(Template, self.started[-1])

    def waiting(self, count: int = 1) -> list[Attempt]:
        """Attempts that wait, in this order."""
        attempts = []
        for _ in range(count):
            before = len(self.templates._waiting)
            attempts.append(Attempt(self))
            while len(self.templates._waiting) == before:
                threading.Event().wait(0.001)
        return attempts

    def busy(self, count: int = CORES) -> list[Any]:
        """Templates that attempts have."""
        return [self.templates.take() for _ in range(count)]

    def look_after(self, seconds: float) -> None:
        self.now += seconds
        self.templates.look()

    def compute(self) -> None:
        """Have enough attempts end that computed."""
        for _ in range(20):
            self.templates.give_back(self.templates.take(), computed=True)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setattr(templates, "_cores", lambda: CORES)
    # No thread looks by itself: only the test does.
    monkeypatch.setattr(templates, "LOOK_EVERY", 3_600.0)
    return Machine()


def test_each_core_has_a_template_at_once_and_no_more(machine: Machine):
    machine.busy(CORES)
    [attempt] = machine.waiting()

    assert len(machine.started) == CORES
    assert attempt.waits


def test_attempts_get_the_template_of_one_that_ends_in_the_order_of_their_arrival(machine: Machine):
    taken = machine.busy()
    attempts = machine.waiting(3)
    for attempt in attempts:
        machine.templates.give_back(taken[0])
        assert attempt.template() is taken[0]
        assert attempt.begun_with is taken[0], "before its thread wakes"


def test_attempt_starts_a_template_in_place_of_one_that_is_not_usable(machine: Machine):
    taken = machine.busy()
    [attempt] = machine.waiting()
    taken[0].usable = False
    machine.templates.give_back(taken[0])

    assert attempt.template() is machine.started[-1]
    assert taken[0].closed


def test_another_template_starts_if_a_core_is_idle_for_a_while(machine: Machine):
    machine.busy()
    machine.now += START_TIME
    [attempt] = machine.waiting()
    machine.idle = True
    for _ in range(IDLE_LOOKS - 1):
        machine.look_after(0)
    assert attempt.waits

    machine.look_after(0)
    assert attempt.template() is machine.started[CORES]


def test_another_template_starts_if_an_attempt_has_waited_for_long(machine: Machine):
    machine.busy()
    [attempt] = machine.waiting()
    machine.look_after(PATIENCE / 2)
    assert attempt.waits

    machine.look_after(PATIENCE)
    assert attempt.template() is machine.started[CORES]


def test_attempts_that_compute_get_no_more_templates_as_long_as_some_end(machine: Machine):
    machine.compute()
    taken = machine.busy()
    attempts = machine.waiting(3)
    machine.now += PATIENCE
    machine.templates.give_back(taken[0], computed=True)
    assert attempts[0].template() is taken[0]

    machine.look_after(PATIENCE / 2)
    assert attempts[1].waits
    machine.look_after(PATIENCE)
    assert attempts[1].template() is machine.started[CORES]


def test_attempts_that_compute_are_as_many_as_cores_again(machine: Machine):
    taken = machine.busy(CORES)
    [third] = machine.waiting()
    machine.look_after(2 * PATIENCE)
    taken.append(third.template())
    attempts = machine.waiting(2)
    machine.templates._computing = 1.0
    machine.templates.give_back(taken[0], computed=True)
    assert attempts[0].waits, "more than cores"

    machine.templates.give_back(taken[1], computed=True)
    assert attempts[0].template() is taken[1]


def test_attempts_that_compute_go_on_while_a_core_is_idle(machine: Machine):
    taken = machine.busy(CORES)
    [third] = machine.waiting()
    machine.look_after(2 * PATIENCE)
    third.template()
    [attempt] = machine.waiting()
    machine.templates._computing = 1.0
    machine.idle = True
    machine.templates.give_back(taken[0], computed=True)

    assert attempt.template() is taken[0]


def test_kept_template_is_used_as_soon_as_a_core_is_idle(machine: Machine):
    taken = machine.busy(CORES)
    [third] = machine.waiting()
    machine.look_after(2 * PATIENCE)
    third.template()
    [attempt] = machine.waiting()
    machine.templates._computing = 1.0
    machine.templates.give_back(taken[0], computed=True)
    machine.look_after(0)
    assert attempt.waits

    machine.idle = True
    machine.look_after(0)
    assert attempt.template() is taken[0]


def test_attempts_that_wait_use_all_templates_that_are_kept(machine: Machine):
    taken = machine.busy(CORES)
    [third] = machine.waiting()
    machine.look_after(2 * PATIENCE)
    taken.append(third.template())
    for one in taken:
        machine.templates.give_back(one, computed=False)

    assert {id(one) for one in machine.busy(3)} == {id(one) for one in taken}


def test_another_attempt_tries_to_start_a_template_that_could_not_be_started(machine: Machine):
    taken = machine.busy(CORES)
    first, second = machine.waiting(2)
    machine.refused = True
    taken[0].usable = False
    machine.templates.give_back(taken[0])

    assert isinstance(first.template(), OSError)
    assert isinstance(second.template(), OSError)
    machine.refused = False
    assert machine.templates.take() is machine.started[-1]


def test_one_waiting_attempt_looks_and_the_last_one_follows_it(machine: Machine, monkeypatch):
    monkeypatch.setattr(templates, "LOOK_EVERY", 0.001)
    looked = threading.Semaphore(0)
    monkeypatch.setattr(machine.templates, "look", looked.release)
    taken = machine.busy()
    first, second, third = machine.waiting(3)
    assert looked.acquire(timeout=WAIT)

    machine.templates.give_back(taken[0])
    first.template()
    assert machine.templates._looking is machine.templates._waiting[-1]
    while looked.acquire(blocking=False):
        pass
    assert looked.acquire(timeout=WAIT), "the last in the queue looks"
    for attempt in (second, third):
        machine.templates.give_back(taken[0])
        attempt.template()


def test_template_that_was_not_used_for_long_is_ended(machine: Machine):
    first, second = machine.busy()
    machine.templates.give_back(first)
    machine.now += templates.UNUSED_FOR + 1
    machine.templates.give_back(second)

    assert (first.closed, second.closed) == (True, False)
