"""The messages between an executor and a handler process: frames, each a list of tuples.

A frame is its length and the list in the format of `marshal`, since both ends are the same Python:
that costs a tenth of pickled objects. What is rare (setup, questions, failures) is pickled inside.

To the process:
    (RUN, number, place, deadline, task)   `task` is what `task_bytes` returns
    (STOP, number, reason)
    (INTERRUPT, number)
    (RECALL, numbers)
    (ANSWER, number, Answer)
From the process:
    (READY,)
    (ENDED, number, waited, took, result, failure, stopped)   milliseconds; JSON; Failure
    (RECALLED, numbers)
    (ASKED, number, Question)
An empty frame from the process means that it has begun its last task.

A process marks in shared memory, at the place of a task, that it has begun it. So the executor
knows this for certain after the process has died.
"""

import marshal
from collections.abc import Sequence
from struct import Struct
from typing import Any

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.task import Attempt, Spec, Task
from duetime.core.times import Millis
from duetime.core.value import value
from duetime.handlers.sources import KeptModule
from duetime.logs.formatting import LogSettings

RUN, STOP, INTERRUPT, RECALL, ANSWER = range(5)
READY, ENDED, RECALLED, ASKED = range(10, 14)

Message = tuple[Any, ...]

_LENGTH = Struct("<I")


@value(frozen=True, kw_only=True, slots=True)
class Setup:
    """The first frame to a process, pickled."""

    path: list[str]
    python_path: str | None  # PYTHONPATH as it was before the executor replaced it for the child
    load: tuple[str, ...]  # sources of handlers, as for the runner
    modules: tuple[str, ...]  # of the handlers that the executor knows
    threads: int
    sources: tuple[KeptModule, ...]
    logs: LogSettings | None


def task_bytes(task: Task, module: str, trace: str | None) -> bytes:
    """Raises ValueError for a payload that is no JSON."""
    spec, run = task.spec, task.spec.occurrence
    schedule = run and (run.schedule_id, run.scheduled_for, run.name)
    name = spec.target["handler"]
    fields: Any = (task.id, task.attempt, name, module, spec.payload, spec.timeout, schedule, trace)
    return marshal.dumps(fields)


@value(frozen=True, slots=True)
class TaskFields:
    """What a process knows of a task, in the order of `task_bytes`."""

    id: str
    attempt: int
    handler: str
    module: str
    payload: Any
    timeout: float
    schedule: tuple[str, int, str | None] | None
    trace: str | None

    @property
    def occurrence(self) -> Occurrence | None:
        if self.schedule is None:
            return None
        schedule_id, scheduled_for, name = self.schedule
        return Occurrence(
            schedule_id=schedule_id, scheduled_for=scheduled_for, version=None, name=name
        )


def read_task(data: bytes) -> TaskFields:
    return TaskFields(*marshal.loads(data))


def task_of(fields: TaskFields, started_at: Millis) -> Task:
    """Returns the task as its context and the log need it: the executor has the rest."""
    attempt = Attempt(number=fields.attempt, started_at=started_at, drift_ms=0)
    return Task(
        id=fields.id,
        spec=Spec(
            target={"type": "python", "handler": fields.handler},
            run_at=started_at,
            payload=fields.payload,
            priority=Lane.MEDIUM,
            timeout=fields.timeout,
            occurrence=fields.occurrence,
        ),
        status=Status.RUNNING,
        token="",
        due_at=started_at,
        wake=None,
        created_at=started_at,
        updated_at=started_at,
        budget=fields.attempt,
        attempt=fields.attempt,
        current=attempt,
    )


def frame(messages: Sequence[Message]) -> bytes:
    return framed(marshal.dumps(list(messages)))


def framed(body: bytes) -> bytes:
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Cuts what arrives into frames."""

    def __init__(self) -> None:
        self._data = bytearray()

    def bodies(self, data: bytes) -> list[bytes]:
        self._data += data
        found, at = [], 0
        while (begin := at + _LENGTH.size) <= len(self._data):
            (length,) = _LENGTH.unpack_from(self._data, at)
            if begin + length > len(self._data):
                break
            at = begin + length
            found.append(bytes(self._data[begin:at]))
        del self._data[:at]
        return found

    def messages(self, data: bytes) -> list[list[Message]]:
        return [marshal.loads(body) for body in self.bodies(data)]
