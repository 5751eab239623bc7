"""Calls side by side: DynamoDB takes one conditional write at a time."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from math import ceil
from typing import TypeVar

from lambdas.aws.clients import POOL_SIZE

MB_PER_CPU = 1_769  # of a function's memory: it gets CPU in proportion
CALLS_PER_CPU = 16
FEWEST_CALLS = 4

T = TypeVar("T")
R = TypeVar("R")


def calls_at_once() -> int:
    """How many calls keep this function's CPU busy. A call takes about 1 ms of a whole CPU and
    waits 5 to 10 ms for DynamoDB, so 16 are enough for one CPU even when DynamoDB is slow. More
    would make nothing faster, and every one opens a connection of its own: see bench/tls.py."""
    memory = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
    if memory is None:
        return POOL_SIZE
    calls = ceil(CALLS_PER_CPU * int(memory) / MB_PER_CPU)
    return min(max(calls, FEWEST_CALLS), POOL_SIZE)


class FanOut:
    def __init__(self, width: int | None = None) -> None:
        self.width = width or calls_at_once()

    def each(self, call: Callable[[T], R], values: Sequence[T]) -> list[R]:
        """The answer for each value, in order. Every value is tried, whatever becomes of the
        others; then the first failure, if there was one, rises. One alone runs right here.

        A thread takes value after value: handing over each by itself costs a twentieth more."""
        if len(values) < 2:
            return [call(value) for value in values]
        answers: dict[int, R] = {}
        failures: dict[int, BaseException] = {}
        left = iter(range(len(values)))  # each number goes to one thread: the GIL sees to it

        def take() -> None:
            for number in left:
                try:
                    answers[number] = call(values[number])
                except BaseException as error:  # noqa: BLE001 - it rises below
                    failures[number] = error

        taking = []
        try:
            for _ in range(min(self.width, len(values))):
                taking.append(self._threads.submit(take))
        except RuntimeError:  # no more threads: those that there are do it, and this one
            take()
        wait(taking)
        if failures:
            raise failures[min(failures)]
        return [answers[number] for number in range(len(values))]

    def close(self) -> None:
        if "_threads" in self.__dict__:
            self._threads.shutdown()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.width, thread_name_prefix="duetime-aws")
