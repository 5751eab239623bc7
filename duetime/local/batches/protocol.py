"""What the runner and the process that reads batches send each other.

A frame is its length and a tuple in the format of `marshal`, since both ends are the same Python.
The specs of tasks are pickled; the tasks of a batch that differ in their payload alone share one.
"""

import marshal
import pickle
import socket
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from struct import Struct
from typing import Any

from duetime.core.allowed_targets import AllowedTargets
from duetime.core.lifecycle import Status
from duetime.core.task import Spec, Task
from duetime.core.time_limits import TimeLimits
from duetime.core.value import replace, value
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import Wake, WakeKind
from duetime.sqlite.bulk_sql import Columns
from duetime.sqlite.new_rows import NewRows

BUFFER = 1024 * 1024  # bytes on their way; a batch of small tasks and its answer fit
CHUNK = 100 * 1024  # bytes that are received at once; above 128 KiB, memory is mapped for each

_LENGTH = Struct("<I")
_but_the_payload = attrgetter(*(f.name for f in fields(Spec) if f.name != "payload"))


@value(frozen=True, kw_only=True, slots=True)
class Setup:
    """The first frame to the process, pickled: what its API knows."""

    wake_policy: WakePolicy
    time_limits: TimeLimits
    targets: AllowedTargets


@value(frozen=True, kw_only=True, slots=True)
class ReadBatch:
    """The tasks of a batch, their rows, and the answer once they are stored."""

    tasks: Sequence[Task]
    rows: NewRows
    answer: bytes


def pack(tasks: Sequence[Task], rows: NewRows, answer: bytes) -> bytes:
    """The tasks are new, enqueued at once, and have what `duetime.core.steps.submit` sets."""
    specs: list[Spec] = []
    places: dict[int, int] = {}  # in `specs`, by the identity of a target
    packed = []
    last, place = None, 0
    for task in tasks:
        spec = task.spec
        if spec is not last:
            last, place = spec, _place(spec, specs, places)
        wake = task.wake
        if wake is None:
            raise ValueError(f"task {task.id} has no watch")
        packed.append(
            (
                *(task.id, place, spec.payload, task.status.value, task.token, task.due_at),
                *(wake.at, wake.bucket, task.created_at),
            )
        )
    columns = rows.columns
    made = (columns.shared, columns.own, columns.values, rows.tags)
    whole: Any = (pickle.dumps(specs), packed, made, answer)
    return marshal.dumps(whole)


def _place(spec: Spec, specs: list[Spec], places: dict[int, int]) -> int:
    """Returns where in `specs` a spec is that differs in its payload at most."""
    place = places.get(id(spec.target))
    if place is None or _but_the_payload(specs[place]) != _but_the_payload(spec):
        place = places[id(spec.target)] = len(specs)
        specs.append(replace(spec, payload=None))
    return place


def unpack(data: bytes | memoryview) -> ReadBatch | None:
    """Returns None for a batch that the process has not read."""
    if (found := marshal.loads(data)) is None:
        return None
    pickled, packed, (shared, own, values, tags), answer = found
    specs: list[Spec] = pickle.loads(pickled)
    tasks = [_task(specs, *fields) for fields in packed]
    columns = Columns(shared=shared, own=own, values=values)
    return ReadBatch(tasks=tasks, rows=NewRows(columns=columns, tags=tags), answer=answer)


NOT_READ = marshal.dumps(None)


def _task(
    specs: Sequence[Spec],
    task_id: str,
    place: int,
    payload: Any,
    status: str,
    token: str,
    due_at: int,
    watch_at: int,
    bucket: str,
    created_at: int,
) -> Task:
    spec = specs[place]
    if payload is not None:
        spec = replace(spec, payload=payload)
    lane = spec.priority
    return Task(
        id=task_id,
        spec=spec,
        status=Status(status),
        token=token,
        due_at=due_at,
        wake=Wake(kind=WakeKind.WATCH, lane=lane, at=watch_at, task_id=task_id, bucket=bucket),
        created_at=created_at,
        updated_at=created_at,
        budget=spec.retry.max_attempts,
    )


def socket_pair() -> tuple[socket.socket, socket.socket]:
    ends = socket.socketpair()
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
    return ends


def send(pipe: socket.socket, body: bytes) -> None:
    pipe.sendall(_LENGTH.pack(len(body)) + body)


def receive(pipe: socket.socket) -> memoryview:
    """Returns the one frame that is on its way, as a rule with one call of the system: after each
    call a busy runner waits for its turn. Raises EOFError at the end, and OSError."""
    data = pipe.recv(CHUNK)
    if len(data) < _LENGTH.size:
        data += _receive(pipe, _LENGTH.size - len(data))
    (length,) = _LENGTH.unpack_from(data)
    if missing := _LENGTH.size + length - len(data):
        data += _receive(pipe, missing)
    return memoryview(data)[_LENGTH.size :]


def _receive(pipe: socket.socket, length: int) -> bytes:
    data = pipe.recv(length, socket.MSG_WAITALL)
    while len(data) < length:
        if not (more := pipe.recv(length - len(data), socket.MSG_WAITALL)):
            raise EOFError
        data += more
    return data
