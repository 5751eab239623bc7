"""The trace of a simulation, for reading a failed seed."""

from collections.abc import Iterator

from duetime.core.times import SECOND, Millis


class Trace:
    def __init__(self, start: Millis) -> None:
        self.start = start
        self._lines: list[tuple[Millis, str, str, tuple[object, ...]]] = []

    def add(self, at: Millis, who: str, what: str, details: tuple[object, ...]) -> None:
        self._lines.append((at, who, what, details))

    def about(self, task_id: str | None) -> Iterator[str]:
        """Returns the lines that name a task, and the lines without details of the processes that
        dealt with it."""
        concerned = {who for _, who, _, details in self._lines if _names(task_id, details)}
        for at, who, what, details in self._lines:
            if task_id is None or _names(task_id, details) or (who in concerned and not details):
                yield self._line(at, who, what, details)

    def _line(self, at: Millis, who: str, what: str, details: tuple[object, ...]) -> str:
        seconds, ms = divmod(at - self.start, SECOND)
        clock = f"{seconds // 60:4d}:{seconds % 60:02d}.{ms:03d}"
        return f"{clock}  {who:<12} {what:<16} {' '.join(str(d) for d in details)}"


def _names(task_id: str | None, details: tuple[object, ...]) -> bool:
    return task_id is not None and any(
        detail == task_id or (isinstance(detail, str) and task_id in detail) for detail in details
    )
