"""What the attempt loop and the worker pool ask of an executor.

`duetime.executor.executor.Executor` writes to the store itself. A worker without a store has an
executor of its own, which asks the runner."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import NamedTuple, Protocol

from duetime.core.change import Answer, Change
from duetime.core.delivery import Message
from duetime.core.task import Progress
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.executor.new_tasks import NewTasks
from duetime.executor.runs import Admitted, Ended, Run

MAX_EARLY: Millis = 2 * SECOND  # a message that arrives earlier is handed back


class RecordedEnd(NamedTuple):
    end: Ended
    change: Change  # that records it


@value(kw_only=True, slots=True)
class Written:
    """The result of `record_and_lease`: the runs that it leased, the messages that may start a
    moment later, and what the loop must repeat because the store did not answer."""

    started: list[Run] = field(default_factory=list)
    waiting: list[Message] = field(default_factory=list)
    record_retries: list[Ended] = field(default_factory=list)
    lease_retries: list[Admitted] = field(default_factory=list)
    outcomes: Sequence[RecordedEnd] = ()  # what was written, and the answers of the store to it
    answers: Sequence[Answer] = ()


class AttemptIO(Protocol):
    def admit(self, messages: Sequence[Message], until: Millis | None = None) -> list[Message]:
        """Returns the messages to lease when they are due; the others are handed back."""
        ...

    def record_and_lease(
        self,
        *,
        ended: Sequence[Ended] = (),
        due: Sequence[Admitted] = (),
        new: Sequence[NewTasks] = (),
    ) -> Written:
        """`new` is given only to an executor that runs beside its store."""
        ...

    def hand_back(self, messages: Sequence[Message]) -> None:
        """Gives messages back that the loop has not leased, for another executor to start now."""
        ...

    def hand_back_with_backoff(self, message: Message) -> None: ...

    def abandon_outcome(self, end: Ended) -> None:
        """Gives up on an outcome that could not be recorded."""
        ...

    def renew(self, runs: Iterable[Run], progress: Progress | None = None) -> None:
        """Renews leases. A handler whose lease is lost or whose task is cancelled is asked to
        stop."""
        ...

    def run_target(self, run: Run) -> Ended:
        """Runs the target, in a worker thread."""
        ...

    def hand_over(self, run: Run, on_end: Callable[[Ended], object]) -> bool:
        """Gives a run to a handler process, if there are any that can run it. `on_end` is then
        called later, from another thread."""
        ...
