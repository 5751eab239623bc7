"""The executor, as the code of a handler in a child process reaches it: it asks, and waits."""

from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from threading import Lock
from typing import Any, Protocol

from duetime.core.errors import Unavailable
from duetime.core.task import Progress
from duetime.executor.isolation.protocol import (
    Answer,
    PreviousRequest,
    Question,
    ReadRequest,
    Renewal,
    Request,
    ResultsRequest,
    SubmitRequest,
)
from duetime.handlers.context import Previous


class Pipe(Protocol):
    def send(self, message: Any, /) -> None: ...


class Parent:
    """Asks the questions of one attempt, one after another: a handler may have threads of its
    own."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._asked = 0
        self._lock = Lock()
        self._ended = False

    def renew(self, progress: Progress | None) -> None:
        self._ask(Renewal(progress=progress))

    def look_up_previous(self) -> Previous | None:
        previous: Previous | None = self._ask(PreviousRequest())
        return previous

    def results_page(self, step: str, start: int) -> list[Any]:
        page: list[Any] = self._ask(ResultsRequest(step=step, start=start))
        return page

    def submit(self, tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        answers: list[dict[str, Any]] = self._ask(SubmitRequest(tasks=tasks))
        return answers

    def read(self, task_id: str) -> dict[str, Any] | None:
        task: dict[str, Any] | None = self._ask(ReadRequest(task_id=task_id))
        return task

    def _ask(self, request: Request) -> Any:
        with self._lock:
            if self._ended:
                raise RuntimeError("the attempt has ended")
            self._asked += 1
            self._pipe.send(Question(number=self._asked, request=request))
            answer = self._answers.get()
            while answer.number != self._asked:
                answer = self._answers.get()
        if answer.unavailable is not None:
            raise Unavailable(answer.unavailable)
        if answer.error is not None:
            raise answer.error
        return answer.value

    def answered(self, answer: Answer) -> None:
        """Called by the thread that listens to the executor."""
        self._answers.put(answer)

    def end(self) -> None:
        """Refuse questions from now on: what has kept the context of an ended attempt must not ask
        for the next one."""
        self._ended = True

    def report(self, outcome: Any) -> None:
        with self._lock:
            self._pipe.send(outcome)
