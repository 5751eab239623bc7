"""The threads of a handler process, and its side of the conversation with the executor.

The main thread listens to the executor. The others run handlers, one each. A thread that ends a
handler sends the outcome itself, unless another went out less than a millisecond ago; then the
main thread sends both.

A process that computes gains nothing from a second busy thread: both would wait for the same
interpreter. So a waiting task gets another thread only if the process leaves its core idle, or if
the task has waited for long.
"""

import marshal
import pickle
import select
import socket
import threading
from collections import deque
from queue import SimpleQueue
from time import monotonic, process_time
from typing import Any

from duetime.core.errors import Stopped
from duetime.core.results import encode_result
from duetime.core.times import seconds
from duetime.executor.call_handler import call_handler
from duetime.executor.failures import failure_of
from duetime.executor.handler_processes.protocol import (
    ANSWER,
    ASKED,
    ENDED,
    INTERRUPT,
    READY,
    RECALL,
    RECALLED,
    RUN,
    STOP,
    Frames,
    Message,
    TaskFields,
    frame,
    read_task,
    task_of,
)
from duetime.executor.handler_processes.task_list import Item, Marks, TaskList
from duetime.executor.isolation.load import find_handler
from duetime.executor.isolation.parent import Parent
from duetime.executor.run_control import RunControl
from duetime.forks import keep_from_children
from duetime.logs import task_context as task_log

SEND_EVERY = 0.001  # seconds between two frames, while there is more to do
LOOK_EVERY = 0.001  # seconds between two looks at waiting tasks
LOOK_EVERY_BUSY = 0.005  # the same, while a handler computes: each look costs it a switch
LONGEST_LOOK = 0.05  # seconds; a longer look says nothing about this moment
BUSY = 0.5  # of a core: above this the process computes
PATIENCE = 0.05  # seconds that a task waits for each thread that runs, before it gets one more
RECEIVE = 256 * 1024  # bytes


class Attempted:
    """One task in this process."""

    def __init__(self, number: int, fields: TaskFields, deadline: int, pipe: "HandlerThreads"):
        self.number = number
        self.fields = fields
        self._pipe = pipe
        self.parent = Parent(self)
        self.task = task_of(fields, deadline - seconds(fields.timeout))
        self.control = RunControl(
            self.task,
            self.parent.renew,
            self.parent.look_up_previous,
            read_results=self.parent.results_page,
            children=self.parent,
        )
        self.control.trace = fields.trace

    def send(self, question: Any) -> None:
        """Called by `parent`."""
        self._pipe.report((ASKED, self.number, pickle.dumps(question)), now=True)

    def run(self) -> Any:
        handler = find_handler(self.fields.module, self.fields.handler)
        return call_handler(handler, self.fields.payload, self.control)


class HandlerThreads:
    def __init__(self, pipe: socket.socket, frames: Frames, marks: Marks, threads: int) -> None:
        self._pipe = pipe
        self._frames = frames
        self._most = threads
        self._list = TaskList(marks)
        self._attempted: dict[int, Attempted] = {}
        self._wake_ups: SimpleQueue[None] = SimpleQueue()
        self._threads = 0
        self._busy = 0  # threads that were woken and have not come back for more in vain
        self._to_wake = 1
        self._lock = threading.Lock()
        self._out: deque[Message] = deque()
        self._say_empty = False
        self._sent_at = 0.0
        self._send_lock = threading.Lock()
        self._seen = (monotonic(), process_time())
        self._computes = False  # at the last look
        keep_from_children(self)

    def descriptors(self) -> list[int]:
        return [self._pipe.fileno()]

    # the main thread

    def serve(self) -> None:
        """Returns when the executor has closed its end."""
        self.report((READY,), now=True)
        poll = select.poll()
        poll.register(self._pipe, select.POLLIN)
        while True:
            if poll.poll(self._wait()):
                data = self._pipe.recv(RECEIVE)
                if not data:
                    return
                for messages in self._frames.messages(data):
                    for message in messages:
                        self._received(message)
            self._wake_threads()
            if self._out or self._say_empty:
                self._send()

    def _wait(self) -> float | None:
        """Returns the milliseconds until the next look at tasks that wait."""
        if not len(self._list):
            return SEND_EVERY * 1_000 if self._out or self._say_empty else None
        return (LOOK_EVERY_BUSY if self._computes else LOOK_EVERY) * 1_000

    def _received(self, message: Message) -> None:
        match message:
            case (kind, number, place, deadline, data) if kind == RUN:
                task = Attempted(number, read_task(data), deadline, self)
                self._attempted[number] = task
                self._list.add(Item(number=number, place=place, task=task, received_at=monotonic()))
            case (kind, number, reason) if kind == STOP:
                if attempted := self._attempted.get(number):
                    attempted.control.request_stop(reason)
            case (kind, number) if kind == INTERRUPT:
                self._interrupt(number)
            case (kind, numbers) if kind == RECALL:
                self._recall(numbers)
            case (kind, number, data) if kind == ANSWER:
                if attempted := self._attempted.get(number):
                    attempted.parent.answered(pickle.loads(data))

    def _interrupt(self, number: int) -> None:
        for item in self._list.withdraw([number]):
            self._end(item, 0.0, 0.0, failed=Stopped())
            return
        if attempted := self._attempted.get(number):
            attempted.control.force_stop()

    def _recall(self, numbers: list[int]) -> None:
        withdrawn = [item.number for item in self._list.withdraw(numbers)]
        for number in withdrawn:
            del self._attempted[number]
        if withdrawn:
            self.report((RECALLED, withdrawn), now=True)

    def _wake_threads(self) -> None:
        """Wakes one thread, and while tasks are left and the core is idle, twice as many after each
        look."""
        waiting = len(self._list)
        if not waiting:
            self._to_wake = 1
            return
        if self._busy == 0:
            self._to_wake = 1
        elif not self._may_use_another():
            self._to_wake = 1
            return
        for _ in range(min(self._to_wake, waiting, self._most - self._busy)):
            self._wake_one()
        self._to_wake *= 2

    def _may_use_another(self) -> bool:
        now, cpu = monotonic(), process_time()
        then, cpu_then = self._seen
        passed = now - then
        if passed >= LOOK_EVERY:
            self._seen = (now, cpu)
        if (oldest := self._list.oldest) and now - oldest > PATIENCE * self._busy:
            return True
        if not LOOK_EVERY <= passed <= LONGEST_LOOK:
            return False  # look again in a moment
        self._computes = cpu - cpu_then >= BUSY * passed
        return not self._computes

    def _wake_one(self) -> None:
        with self._lock:
            self._busy += 1
            start = self._busy > self._threads
        if start:
            self._threads += 1
            name = f"handler-{self._threads}"
            try:
                threading.Thread(target=self._work, name=name, daemon=True).start()
            except RuntimeError:  # no more threads: the existing ones do it
                self._threads -= 1
                with self._lock:
                    self._busy -= 1
                return
        self._wake_ups.put(None)

    # the handler threads

    def _work(self) -> None:
        while True:
            self._wake_ups.get()
            while (item := self._begin()) is not None:
                self._run(item)
            # A task that came just now finds this thread still busy: look once more.
            with self._lock:
                self._busy -= 1
            if len(self._list) and self._busy == 0:
                with self._lock:
                    self._busy += 1
                self._wake_ups.put(None)

    def _begin(self) -> Item | None:
        item = self._list.begin()
        if item is not None and not len(self._list):
            self._say_empty = True
            self._send()  # at once: the main thread may wait without a limit now
        return item

    def _run(self, item: Item) -> None:
        attempted: Attempted = item.task
        began = monotonic()
        waited = (began - item.received_at) * 1_000
        attempted.control.restart_timeout(int(waited))
        token = task_log.begin(attempted.task)
        text, error = None, None
        try:
            # The executor refuses a large result if it has no place for it.
            text = encode_result(attempted.control.interrupt.run(attempted.run), large=True)
        except BaseException as raised:  # noqa: BLE001 - the executor gets every kind of failure
            error = raised
        finally:
            task_log.end(token)
        self._end(item, waited, (monotonic() - began) * 1_000, result=text, failed=error)

    def _end(
        self,
        item: Item,
        waited: float,
        took: float,
        *,
        result: str | None = None,
        failed: BaseException | None = None,
    ) -> None:
        failure = None if failed is None else pickle.dumps(failure_of(failed))
        stopped = isinstance(failed, Stopped)
        self._attempted.pop(item.number, None)
        self._out.append((ENDED, item.number, waited, took, result, failure, stopped))
        self._send_soon(last=not len(self._list))

    # sending, from any thread

    def report(self, message: Message, *, now: bool = False) -> None:
        self._out.append(message)
        self._send_soon(last=now)

    def _send_soon(self, *, last: bool = False) -> None:
        """Sends, unless the main thread does it in a moment, since there are more tasks."""
        if last or monotonic() - self._sent_at >= SEND_EVERY:
            self._send()

    def _send(self) -> None:
        with self._send_lock:
            empty, self._say_empty = self._say_empty, False
            messages = []
            while self._out:
                messages.append(self._out.popleft())
            if not messages and not empty:
                return
            self._sent_at = monotonic()
            try:
                self._pipe.sendall(frame(messages))
            except OSError:
                return  # the executor is gone; the main thread sees it too


def read_setup(pipe: socket.socket, frames: Frames) -> tuple[Any, list[Message]]:
    """Returns the first frame, and what has come with it. Raises EOFError."""
    while True:
        data = pipe.recv(RECEIVE)
        if not data:
            raise EOFError
        bodies = frames.bodies(data)
        if bodies:
            later = [message for body in bodies[1:] for message in marshal.loads(body)]
            return pickle.loads(bodies[0]), later
