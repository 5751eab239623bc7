"""Parallel calls. DynamoDB takes one conditional write per request, so a batch needs threads."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cached_property
from math import ceil
from typing import TypeVar

from duetime.aws.clients import POOL_SIZE

MB_PER_CPU = 1_769  # a function gets CPU in proportion to its memory
CALLS_PER_CPU = 16
MIN_CALLS = 4

T = TypeVar("T")
R = TypeVar("R")


def default_width() -> int:
    """Returns how many calls keep this function's CPU busy.

    A call takes about 1 ms of a whole CPU and waits 5 to 10 ms for DynamoDB, so 16 are enough for
    one CPU even when DynamoDB is slow. More calls are not faster, and each opens a connection of
    its own: see bench/tls.py."""
    memory = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
    if memory is None:
        return POOL_SIZE
    calls = ceil(CALLS_PER_CPU * int(memory) / MB_PER_CPU)
    return min(max(calls, MIN_CALLS), POOL_SIZE)


class ParallelCalls:
    def __init__(self, width: int | None = None) -> None:
        self.width = width or default_width()

    def each(self, call: Callable[[T], R], values: Sequence[T]) -> list[R]:
        """Returns the answer for each value, in order. Every value is tried, even if others fail;
        then the first failure, if any, is raised. A single value runs in the calling thread.

        Each thread takes one value after the other: a future per value costs a twentieth more."""
        if len(values) < 2:
            return [call(value) for value in values]
        answers: dict[int, R] = {}
        failures: dict[int, BaseException] = {}
        left = iter(range(len(values)))  # the GIL gives each number to one thread

        def run() -> None:
            for number in left:
                try:
                    answers[number] = call(values[number])
                except BaseException as error:  # noqa: BLE001 - raised below
                    failures[number] = error

        futures = []
        try:
            for _ in range(min(self.width, len(values))):
                futures.append(self._threads.submit(run))
        except RuntimeError:  # no more threads: the existing ones and this one do the work
            run()
        wait(futures)
        if failures:
            raise failures[min(failures)]
        return [answers[number] for number in range(len(values))]

    def close(self) -> None:
        if "_threads" in self.__dict__:
            self._threads.shutdown()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.width, thread_name_prefix="duetime-aws")
