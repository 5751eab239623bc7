"""The messages between an executor and the child process that runs an isolated handler."""

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Any

from duetime.core.steps.record import Failure
from duetime.core.task import Progress
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.handlers.context import Previous, Reason
from duetime.handlers.sources import KeptModule
from duetime.logs.formatting import LogSettings

PROCESS_RETRY_DELAY = 10  # seconds, after an attempt for which no process could be started


MESSAGE = b"R"  # to a template, with the descriptor of the pipe of an attempt
ENDED = Struct("<i")  # from a template: the wait status of the fork


@value(frozen=True, kw_only=True, slots=True)
class Setup:
    """The first message to a template."""

    path: list[str]
    python_path: str | None  # PYTHONPATH as it was before the executor replaced it for the child
    sources: tuple[KeptModule, ...]  # what the child imports instead of the files
    logs: LogSettings | None  # how the executor logs, if the child is to log the same way
    modules: tuple[str, ...]  # that it imports beforehand, if its forks can share them
    idle_timeout: float  # seconds that a fork waits for its next attempt


@value(frozen=True, kw_only=True, slots=True)
class RunRequest:
    """To a fork, for each attempt."""

    task: bytes  # see task_bytes: to pickle a whole task takes ten times as long
    started_at: Millis
    previous: Previous | None  # read beforehand
    keep: bool = False  # the process may run another attempt after this one


@value(frozen=True, kw_only=True, slots=True)
class StopNotice:
    """To the child: why the handler should stop, if it should. `answer` answers a question of the
    child."""

    reason: Reason | None
    answer: "Answer | None" = None


@value(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the request of a question returns, or why it failed. `number` is that of the question:
    a signal handler may have ended the wait for an earlier answer, which arrives all the same."""

    number: int
    value: Any = None
    unavailable: str | None = None
    error: Exception | None = None


@value(frozen=True, kw_only=True, slots=True)
class Renewal:
    progress: Progress | None


@value(frozen=True, kw_only=True, slots=True)
class SubmitRequest:
    tasks: Sequence[Mapping[str, Any]]  # JSON


@value(frozen=True, kw_only=True, slots=True)
class ReadRequest:
    task_id: str


class PreviousRequest:
    """Asks for the previous run of the schedule."""


@value(frozen=True, kw_only=True, slots=True)
class ResultsRequest:
    step: str
    start: int


Request = Renewal | SubmitRequest | ReadRequest | PreviousRequest | ResultsRequest


@value(frozen=True, kw_only=True, slots=True)
class Question:
    """From the child, which waits for the answer."""

    number: int
    request: Request


@value(frozen=True, kw_only=True, slots=True)
class Succeeded:
    result: str | None  # JSON: the executor need not know the classes of the handler
    kept: bool = False  # the process waits for another attempt
    computed: bool = False  # it used a core, or waited for one, for most of its time


@value(frozen=True, kw_only=True, slots=True)
class Failed:
    failure: Failure
    kept: bool = False
    computed: bool = False


class EndedIdle:
    """The last message of a process that was kept for long without an attempt. It has not begun
    the one whose request may be on its way."""
