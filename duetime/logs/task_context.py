"""The task context of log records: the task and attempt that the current context runs.

Records of a handler and its coroutines get the ids too. A thread that a handler starts has a new
context, unless it runs in `contextvars.copy_context()`.
"""

import logging
from contextvars import ContextVar, Token
from typing import Any, Protocol

from duetime.core.task import Task


class Output(Protocol):
    """A stream that prints whole lines with the ids of their task."""

    def print_line(self, line: str, of: "TaskLog") -> None: ...


class TaskLog:
    """The output of one attempt. `open_lines` has the printed text without an end of line so far,
    by stream and thread."""

    __slots__ = ("_task", "open_lines")

    def __init__(self, task: Task) -> None:
        self._task = task
        self.open_lines: dict[tuple[Output, int], str] = {}

    def fields(self) -> dict[str, Any]:
        ids: dict[str, Any] = {"task_id": self._task.id, "attempt": self._task.attempt}
        handler = self._task.spec.target.get("handler")
        return ids if handler is None else {**ids, "handler": handler}

    def close(self) -> None:
        """Prints the unfinished lines of the handler."""
        while self.open_lines:
            (output, _), line = self.open_lines.popitem()
            output.print_line(line, self)


_current: ContextVar[TaskLog | None] = ContextVar("duetime_task_log", default=None)


def current() -> TaskLog | None:
    return _current.get()


def begin(task: Task) -> Token[TaskLog | None]:
    return _current.set(TaskLog(task))


def end(token: Token[TaskLog | None]) -> None:
    ended = _current.get()
    _current.reset(token)
    if ended is not None and ended.open_lines:
        ended.close()


class TaskFields(logging.Filter):
    """Adds the task's ids to a record without them. For logging handlers, which run in the thread
    that logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        running = _current.get()
        if running is not None:
            for name, value in running.fields().items():
                record.__dict__.setdefault(name, value)
        return True
