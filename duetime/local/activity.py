"""What the local runner shows of the tasks that pass: a line for each that starts or ends."""

from rich.console import Console
from rich.text import Text

from duetime.text import one_line
from lambdas.core.events import StatusChange
from lambdas.core.lifecycle import Status
from lambdas.core.times import to_datetime

LINES_A_SECOND = 10
STYLES = {
    Status.SUCCEEDED: "green",
    Status.RETRYING: "yellow",
    Status.DEAD: "red",
    Status.CANCELLED: "magenta",
    Status.EXPIRED: "magenta",
}


class Activity:
    """A busy runner must not drown in its own lines, so what is too much is only counted."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._second = 0
        self._shown = 0
        self._hidden = 0

    def notify(self, change: StatusChange) -> None:
        if change.after not in STYLES:
            return
        second = change.at // 1_000
        if second != self._second:
            self.tell_hidden()
            self._second, self._shown = second, 0
        if self._shown < LINES_A_SECOND:
            self._shown += 1
            self._console.print(_line(change), soft_wrap=True)
        else:
            self._hidden += 1

    def tell_hidden(self) -> None:
        if self._hidden:
            self._console.print(f"  … and {self._hidden:,} more", style="dim")
        self._hidden = 0


def _line(change: StatusChange) -> Text:
    line = Text()
    line.append(f"  {to_datetime(change.at).astimezone():%H:%M:%S}  ", style="dim")
    line.append(f"{change.after:<10}", style=STYLES[change.after])
    line.append(f" {change.task_id}", style="dim")
    if told := change.name or change.target:
        line.append(f"  {one_line(told)}")
    if change.before is Status.DEAD:
        line.append("  revived")
        return line
    if change.drift_ms is not None:
        line.append(f"  started {change.drift_ms} ms after its time")
    if change.error is not None and change.after is not Status.SUCCEEDED:
        line.append(f"  {one_line(f'{change.error.type}: {change.error.message}')}")
    return line
