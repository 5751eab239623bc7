"""The calls of a pool: what goes to a process with each, and how one returns to the executor."""

from collections.abc import Callable, Sequence
from mmap import mmap

from duetime.core.times import Millis
from duetime.core.value import value
from duetime.executor.handler_processes.dispatch import Call
from duetime.executor.handler_processes.protocol import RUN, STOP, Message
from duetime.executor.handler_processes.returned import Returned
from duetime.executor.run_control import RunControl

OnReturn = Callable[[Returned], object]


@value(slots=True)
class CalledRun:
    """What the pool knows of a call beside its place: `Call.run`."""

    control: RunControl
    data: bytes
    on_return: OnReturn


def run_messages(calls: Sequence[Call], marks: mmap, now: Millis) -> list[Message]:
    """Returns what a process gets for calls that were handed out to it. Their timeouts begin."""
    messages: list[Message] = []
    for call in calls:
        control: RunControl = call.run.control
        marks[call.place] = 0
        control.restart_timeout(now)
        messages.append((RUN, call.number, call.place, control.deadline, call.run.data))
        if control.reason is not None:
            messages.append((STOP, call.number, control.reason))
    return messages


def return_call(call: Call, returned: Returned) -> None:
    control: RunControl = call.run.control
    control.on_stop = None
    control.interrupt.disarm()
    control.queued = False
    call.run.on_return(returned)
