"""A write that waits for its group commit."""

import sqlite3
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], T]
Translated = Callable[[sqlite3.Error], Exception]


class QueuedWrite(Generic[T]):
    """One action in the queue, and its result."""

    __slots__ = ("_result", "action", "done", "durable", "error")

    def __init__(self, action: Action[T], durable: bool = True) -> None:
        self.action = action
        self.durable = durable
        self.done = False
        self._result: T | None = None
        self.error: BaseException | None = None

    def run(self, connection: sqlite3.Connection, translated: Translated) -> None:
        try:
            self._result = self.action(connection)
        except sqlite3.Error as error:
            self.error = translated(error)
        except Exception as error:  # noqa: BLE001 - raised in the thread that called write
            self.error = error

    def fail(self, error: BaseException) -> None:
        self.error = self.error or error

    def outcome(self) -> T:
        if self.error is not None:
            raise self.error
        return self._result  # type: ignore[return-value]
