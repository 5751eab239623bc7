"""Calls without I/O: generators that `Client` and `AsyncClient` both run.

A call yields each `Request` to send, and gets its `Answer` or its error; it yields a `Pause` to
wait, and an `Item` for the caller of an iterator. Its return value is the value of the method. So
everything that takes several requests (retries, pages, waits) is written once. A call that listens
to a WebSocket yields the steps of `duetime.client.live_steps`, too.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from duetime.client.live_steps import SocketStep
from duetime.client.requests import PAGE, Request
from duetime.client.responses import Answer
from duetime.core.errors import DuetimeError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Item:
    value: Any


Step = Request | Pause | Item | SocketStep
Call = Generator[Step, Any, T]


class Progress(Generic[T]):
    """A call in progress. `step` is what to do next; once it is None, `value` is the result."""

    def __init__(self, call: Call[T]) -> None:
        self.step: Step | None = None
        self.value: T
        self._call = call
        self.go_on()

    def go_on(self, answer: Any = None) -> None:
        """Takes the answer to the step, if it has one: that to a request is an Answer."""
        self._advance(lambda: self._call.send(answer))

    def fail(self, error: DuetimeError) -> None:
        """Raises the error of the step inside the call, which may handle it."""
        self._advance(lambda: self._call.throw(error))

    def _advance(self, act: Callable[[], Step]) -> None:
        try:
            self.step = act()
        except StopIteration as end:
            self.step, self.value = None, end.value


def send(method: str, path: str, **options: Any) -> Call[Answer]:
    """Sends a request and returns the answer; the options are those of Request."""
    answer: Answer = yield Request(method=method, path=path, **options)
    return answer


def ask(method: str, path: str, **options: Any) -> Call[Any]:
    """Like send, and returns the value of the answer alone."""
    answer: Answer = yield Request(method=method, path=path, **options)
    return answer.value


def pages(call: Callable[[str | None], Call[Any]], cursor: str | None = None) -> Call[None]:
    """Yields the answers of calls as items, until one has no `next_cursor`. `call` makes the one at
    a cursor."""
    while True:
        answer = yield from call(cursor)
        yield Item(answer)
        cursor = answer["next_cursor"]
        if cursor is None:
            return


def items(path: str, query: dict[str, Any] | None = None) -> Call[None]:
    """Yields every item of a list; reads page by page."""
    cursor = None
    while True:
        page = {**(query or {}), "limit": PAGE, "cursor": cursor}
        answer = yield from ask("GET", path, query=page)
        for item in answer["items"]:
            yield Item(item)
        cursor = answer["next_cursor"]
        if cursor is None:
            return
