"""What an executor and the child that runs an isolated handler say to each other."""

from lambdas.core.steps.record import Failure
from lambdas.core.task import Progress, Task
from lambdas.core.values import value
from lambdas.executor.context import Previous
from lambdas.log_lines import LogSettings

SPARE_AGAIN = 10  # seconds until an attempt is made again for which there was no process to spare


@value(frozen=True, kw_only=True, slots=True)
class Order:
    """The first thing that a child hears."""

    path: list[str]
    module: str
    name: str
    task: Task
    previous: Previous | None  # asked for beforehand: a child cannot look anything up
    python_path: str | None  # what the environment said before the child was found by it
    logs: LogSettings | None = None  # how the executor logs, if the child is to log like it


@value(frozen=True, kw_only=True, slots=True)
class Word:
    """To the child: whether the handler should stop."""

    stop: bool
    answer: bool  # to a renewal; otherwise unasked


@value(frozen=True, kw_only=True, slots=True)
class Renewal:
    progress: Progress | None


@value(frozen=True, kw_only=True, slots=True)
class Succeeded:
    result: str | None  # JSON: its classes need not be known here


@value(frozen=True, kw_only=True, slots=True)
class Failed:
    failure: Failure
