"""The conversation between an executor and its handler processes, in every order.

The real `Dispatch` and the real `TaskList`s talk over a network that delays messages, and processes
die at any point. Nothing is asserted about speed: each task begins at most once, never in two
processes, and ends exactly once.
"""

from collections import Counter, deque
from random import Random
from typing import Any

import pytest

from duetime.executor.handler_processes.dispatch import (
    LONGEST_LIST,
    RECALL_AFTER,
    Call,
    Dispatch,
    Process,
)
from duetime.executor.handler_processes.task_list import Item, TaskList

SEEDS = 300
PLACES = 12


class RemoteProcess:
    """A process with one or two threads, and the two directions of its pipe."""

    def __init__(self, threads: int) -> None:
        self.marks = bytearray(PLACES)
        self.list = TaskList(self.marks)
        self.threads = threads
        self.running: list[int] = []
        self.to: deque[tuple[str, Any]] = deque()
        self.back: deque[tuple[str, Any]] = deque()


class World:
    def __init__(self, seed: int, tasks: int = 12) -> None:
        self.chance = Random(seed)
        self.dispatch = Dispatch()
        self.remote: dict[int, RemoteProcess] = {}
        self.now = 0
        self.numbers = 0
        self.begun: Counter[int] = Counter()
        self.ended: Counter[int] = Counter()
        self.deaths = 0
        self.left = tasks
        for _ in range(2):
            self.start()

    def start(self) -> None:
        number = 1_000 + self.numbers
        self.numbers += 1
        self.remote[number] = RemoteProcess(self.chance.choice([1, 2]))
        process = Process(number, self.remote[number].threads, PLACES)
        self.dispatch.processes[number] = process
        process.ready = True

    # what may happen next

    def steps(self) -> list[Any]:
        steps: list[Any] = [self.tick]
        if self.left:
            steps.append(self.submit)
        for number, remote in self.remote.items():
            if remote.to:
                steps.append(lambda n=number: self.deliver(n))
            if remote.back:
                steps.append(lambda n=number: self.answer(n))
            if len(remote.list) and len(remote.running) < remote.threads:
                steps.append(lambda n=number: self.begin(n))
            if remote.running:
                steps.append(lambda n=number: self.end(n))
            if self.deaths < 3:
                steps.append(lambda n=number: self.die(n))
        return steps

    def submit(self) -> None:
        self.left -= 1
        self.dispatch.waiting.append(Call(self.left, self.chance.choice("ab"), None))
        self.act()

    def tick(self) -> None:
        self.now += self.chance.choice([1, RECALL_AFTER])
        self.act()

    def act(self) -> None:
        """What the pool does after everything that arrives."""
        for number, process in self.dispatch.processes.items():
            self.dispatch.mark_begun(process, self.remote[number].marks, self.now)
        for number, numbers in self.dispatch.recalls(self.now):
            self.remote[number].to.append(("recall", numbers))
        for number, calls in self.dispatch.hand_out(self.now):
            for call in calls:
                self.remote[number].marks[call.place] = 0
                self.remote[number].to.append(("run", (call.number, call.place)))

    def deliver(self, number: int) -> None:
        remote = self.remote[number]
        kind, what = remote.to.popleft()
        if kind == "run":
            remote.list.add(Item(number=what[0], place=what[1], task=None))
        else:
            withdrawn = [item.number for item in remote.list.withdraw(what)]
            remote.back.append(("recalled", withdrawn))

    def begin(self, number: int) -> None:
        remote = self.remote[number]
        item = remote.list.begin()
        assert item is not None
        self.begun[item.number] += 1
        remote.running.append(item.number)

    def end(self, number: int) -> None:
        remote = self.remote[number]
        done = remote.running.pop(self.chance.randrange(len(remote.running)))
        remote.back.append(("ended", done))

    def answer(self, number: int) -> None:
        kind, what = self.remote[number].back.popleft()
        process = self.dispatch.processes[number]
        if kind == "ended":
            call = self.dispatch.ended(process, what, took=self.chance.choice([0.1, 5.0, 50.0]))
            if call is not None:
                self.ended[call.number] += 1
        else:
            self.dispatch.recalled(process, what)
        self.act()

    def die(self, number: int) -> None:
        """What it has sent still arrives; what it was sent is lost."""
        self.deaths += 1
        remote = self.remote[number]
        while remote.back:
            self.answer(number)
        for call in self.dispatch.died(number, remote.marks, self.now):
            self.ended[call.number] += 1
        del self.remote[number]
        self.start()
        self.act()

    def play(self) -> None:
        for _ in range(400):
            self.chance.choice(self.steps())()
            self.check()
        while self.left or any(r.to or r.back or len(r.list) or r.running for r in self.all()):
            calm = [step for step in self.steps() if "die" not in step.__code__.co_names]
            self.chance.choice(calm)()
            self.check()
        self.act()

    def all(self) -> list[RemoteProcess]:
        return list(self.remote.values())

    def check(self) -> None:
        assert max(self.begun.values(), default=0) <= 1, "a task began in two processes"
        assert max(self.ended.values(), default=0) <= 1, "a task ended twice"


def play_all() -> None:
    for seed in range(SEEDS):
        World(seed).play()


@pytest.mark.parametrize("first", range(0, SEEDS, 100))
def test_each_task_begins_at_most_once_and_ends_once_whatever_happens(first: int):
    for seed in range(first, first + 100):
        world = World(seed)
        world.play()
        assert not world.dispatch.waiting, seed
        assert world.ended == Counter(range(12)), seed


def test_recalled_task_that_moves_without_a_confirmation_begins_twice(monkeypatch):
    """The mutant `recall_without_confirmation`: the laws above catch it."""
    recalls = Dispatch.recalls

    def move_at_once(self: Dispatch, now: int) -> Any:
        found = list(recalls(self, now))
        for number, numbers in found:
            self.recalled(self.processes[number], numbers)
        return found

    monkeypatch.setattr(Dispatch, "recalls", move_at_once)
    with pytest.raises(AssertionError, match="began in two processes"):
        play_all()


def test_task_that_moves_from_a_dead_process_although_it_had_begun_begins_twice(monkeypatch):
    """The mutant `death_forgets_what_had_begun`."""
    died = Dispatch.died
    monkeypatch.setattr(
        Dispatch, "died", lambda self, number, flags, now: died(self, number, bytes(PLACES), now)
    )
    with pytest.raises(AssertionError, match="began in two processes"):
        play_all()


def a_dispatch(processes: int = 1, threads: int = 100) -> Dispatch:
    dispatch = Dispatch()
    for number in range(processes):
        dispatch.processes[number] = Process(number, threads, 256)
        dispatch.processes[number].ready = True
    return dispatch


def learn(dispatch: Dispatch, handler: str, took: float) -> None:
    process = dispatch.processes[0]
    process.not_begun[-1] = Call(-1, handler, None)
    dispatch.ended(process, -1, took)
    process.free_places.remove(-1)


def submit(dispatch: Dispatch, handler: str, count: int) -> None:
    dispatch.waiting.extend(Call(number, handler, None) for number in range(count))


@pytest.mark.parametrize(
    ("took", "length"), [(None, 1), (0.01, LONGEST_LIST), (1.0, 20), (5.0, 4), (19.0, 2), (60.0, 1)]
)
def test_list_holds_what_the_handler_runs_in_20_ms(took: float | None, length: int):
    dispatch = a_dispatch()
    if took is not None:
        learn(dispatch, "a", took)
    submit(dispatch, "a", 150)
    first = next(iter(dispatch.hand_out(0)))

    assert len(first[1]) == length


def test_few_tasks_are_spread_over_the_processes():
    dispatch = a_dispatch(processes=2)
    learn(dispatch, "a", 1.0)
    submit(dispatch, "a", 4)

    assert [(number, len(calls)) for number, calls in dispatch.hand_out(0)] == [(0, 2), (1, 2)]


def test_process_with_a_busy_thread_for_each_task_gets_no_more():
    dispatch = a_dispatch(threads=1)
    submit(dispatch, "a", 2)
    list(dispatch.hand_out(0))
    dispatch.mark_begun(dispatch.processes[0], b"\1" * 256, 0)

    assert list(dispatch.hand_out(0)) == []
    assert len(dispatch.waiting) == 1


def test_task_is_recalled_after_a_second_only_if_another_process_has_room():
    dispatch = a_dispatch(processes=1)
    submit(dispatch, "a", 1)
    list(dispatch.hand_out(0))
    assert list(dispatch.recalls(RECALL_AFTER)) == []

    dispatch.processes[1] = Process(1, 4, 8)
    dispatch.processes[1].ready = True
    assert list(dispatch.recalls(RECALL_AFTER - 1)) == []
    assert list(dispatch.recalls(RECALL_AFTER)) == [(0, [0])]
    assert list(dispatch.recalls(2 * RECALL_AFTER)) == [], "it is asked once"

    dispatch.recalled(dispatch.processes[0], [0])
    [(number, [call])] = dispatch.hand_out(RECALL_AFTER)
    assert (number, call.number) == (1, 0)


def test_retired_process_gives_back_what_it_has_not_begun_and_gets_no_more():
    dispatch = a_dispatch(processes=2)
    learn(dispatch, "a", 1.0)
    submit(dispatch, "a", 4)
    list(dispatch.hand_out(0))
    dispatch.processes[0].retired = True

    [(number, numbers)] = dispatch.recalls(0)
    assert (number, len(numbers)) == (0, 2)
