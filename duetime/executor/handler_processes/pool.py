"""The handler processes of an executor: a fixed number of them, each replaced when it ends.

One thread owns the processes, their sockets and the dispatch. Other threads post it what to do, so
nothing here has a lock. It never waits for a store: a handler's questions are answered by threads
of their own.
"""

import logging
import os
import pickle
import selectors
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from queue import SimpleQueue

from duetime.core.errors import Snooze, Stopped
from duetime.core.ports import Clock
from duetime.core.steps.record import INTERRUPTED
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.executor.failures import failure_of
from duetime.executor.handler_processes.dispatch import KILL_AFTER, Call, Dispatch, Process
from duetime.executor.handler_processes.process import HandlerProcess
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
    Message,
    Setup,
    task_bytes,
)
from duetime.executor.handler_processes.questions import Questions
from duetime.executor.handler_processes.readiness import Readiness
from duetime.executor.handler_processes.returned import Returned, after_death
from duetime.executor.isolation.answers import answer
from duetime.executor.isolation.protocol import PROCESS_RETRY_DELAY
from duetime.executor.isolation.supervised_process import how_it_ended
from duetime.executor.run_control import RunControl
from duetime.handlers import registry, sources
from duetime.logs import formatting as log_lines

log = logging.getLogger(__name__)

SPARE_PLACES = 256  # tasks that a process holds beside those in its threads
CHECK_EVERY: Millis = SECOND  # whether handlers were reloaded, or a process ended unseen
START_PAUSES: tuple[Millis, ...] = (0, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND)
FAILED_STARTS = 3  # in a row, after which waiting tasks are snoozed
SHORTEST_LIFE: Millis = 10 * SECOND  # of a process; one that ends earlier is replaced more slowly

_numbers = count()  # of calls and processes; `next` of a count is atomic


OnReturn = Callable[[Returned], object]


@value(slots=True)
class _Attempt:
    """What the pool knows of a call."""

    control: RunControl
    data: bytes
    on_return: OnReturn


class HandlerProcesses:
    """
    Args:
        count: How many processes.
        threads: How many tasks each of them runs at a time, at most.
        clock: The clock of the executor.
        load: The sources of handlers, which each process imports as the runner does.
        kill_after: How long a handler may go on after its interrupt, before its process is
            killed."""

    def __init__(
        self,
        count: int,
        threads: int,
        clock: Clock,
        *,
        load: Sequence[str] = (),
        kill_after: Millis = KILL_AFTER,
    ) -> None:
        self._count = count
        self._threads = threads
        self._places = threads + SPARE_PLACES
        self._clock = clock
        self._load = tuple(load)
        self._kill_after = kill_after
        self._dispatch = Dispatch()
        self._processes: dict[int, HandlerProcess] = {}
        self._started_at: dict[int, Millis] = {}
        self._killed: set[int] = set()
        self._failed_starts = 0
        self._start_at: Millis = 0
        self._sources = sources.kept()
        self._posted: deque[Callable[[], object]] = deque()
        self._woken = False
        self._wakes, self._wake_fd = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wakes, selectors.EVENT_READ, self._clear_wakes)
        self._questions = Questions()
        self._draining = False
        self._closing = False
        self._readiness = Readiness()
        self.on_failure: Callable[[BaseException], object] = _log_failure
        self._thread = threading.Thread(target=self._run, name="handler-processes", daemon=True)

    # from any thread

    def start(self) -> None:
        """Start the processes. Tasks wait until the handlers are imported there. Raises
        RuntimeError if there can be no more threads."""
        self._thread.start()

    def wait_until_ready(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds until a process can begin attempts: see Readiness."""
        return self._readiness.wait(timeout)

    def call(self, task: Task, module: str, control: RunControl, on_return: OnReturn) -> None:
        """Run a handler in one of the processes. `on_return` is called from another thread, once.
        Raises Stopped if the run was interrupted already, and ValueError for a payload that is no
        JSON."""
        data = task_bytes(task, module, control.trace)
        attempt = _Attempt(control, data, on_return)
        call = Call(next(_numbers), task.spec.target["handler"], attempt)
        control.killable = True
        control.on_stop = lambda: self._post(partial(self._send_stop, call))
        control.interrupt.arm(lambda: self._post(partial(self._interrupt, call)))
        self._post(partial(self._dispatch.waiting.append, call))

    def run(self, task: Task, module: str, control: RunControl) -> Returned:
        """Run a handler, and wait for its end."""
        returned: SimpleQueue[Returned] = SimpleQueue()
        self.call(task, module, control, returned.put)
        return returned.get()

    def drain(self) -> None:
        """Have everything that has not begun end as interrupted."""
        self._post(self._drain)

    def kill(self) -> None:
        """End the processes now. What they run ends as interrupted."""
        self._post(self._kill_all)

    def close(self) -> None:
        """End the processes, with what they run."""
        self._closing = True
        self._wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        self._questions.close()

    def pids(self) -> list[int]:
        """Returns the process ids of the supervisors."""
        return [process.supervised.pid for process in list(self._processes.values())]

    def _post(self, act: Callable[[], object]) -> None:
        self._posted.append(act)
        self._wake()

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            with suppress(OSError):  # closed
                os.write(self._wake_fd, b"\0")

    # the thread

    def _run(self) -> None:
        try:
            while not self._closing:
                self._replace_processes()
                for key, events in self._selector.select(self._wait()):
                    key.data() if key.fileobj == self._wakes else key.data(events)
                while self._posted:
                    self._posted.popleft()()
                self._look()
                self._hand_out()
                self._note_readiness()
        except BaseException as error:  # noqa: BLE001 - it ends the executor
            self.on_failure(error)
        finally:
            self._readiness.end()
            for process in self._processes.values():
                process.supervised.kill()
            for process in self._processes.values():
                process.close()
            self._processes.clear()

    def _clear_wakes(self) -> None:
        os.read(self._wakes, 4_096)
        self._woken = False  # before what was posted is read: what comes later wakes again

    def _wait(self) -> float | None:
        now = self._clock.monotonic()
        timers = [now + CHECK_EVERY] if self._sources or self._processes else []
        if (at := self._dispatch.next_timer(now)) is not None:
            timers.append(at)
        if len(self._processes) < self._count and not self._draining:
            timers.append(self._start_at)
        return max(min(timers) - now, 0) / SECOND if timers else None

    # the processes

    def _replace_processes(self) -> None:
        now = self._clock.monotonic()
        if self._sources is not sources.kept():
            self._sources = sources.kept()
            for process in self._dispatch.processes.values():
                process.retired = True
        current = sum(not p.retired for p in self._dispatch.processes.values())
        while current < self._count and now >= self._start_at and not self._draining:
            if not self._start_process(now):
                return
            current += 1
        for number, process in list(self._dispatch.processes.items()):
            if process.retired and process.empty:
                self._end_process(number)

    def _start_process(self, now: Millis) -> bool:
        number = next(_numbers)
        try:
            process = HandlerProcess(self._setup(), self._places)
        except OSError as error:
            log.warning("handler process not started: %s", error, extra={"step": "execute"})
            self._start_failed(now, str(error))
            return False
        self._processes[number] = process
        self._started_at[number] = now
        self._dispatch.processes[number] = Process(number, self._threads, self._places)
        self._selector.register(
            process.pipe,
            selectors.EVENT_READ | selectors.EVENT_WRITE,
            partial(self._on_pipe, number),
        )
        if process.exited is not None:
            exited = partial(self._on_exit, number)
            self._selector.register(process.exited, selectors.EVENT_READ, exited)
        return True

    def _setup(self) -> Setup:
        modules = {handler.__module__ for handler in registry.handlers().values()}
        return Setup(
            path=list(sys.path),
            python_path=os.environ.get("PYTHONPATH"),
            load=self._load,
            modules=tuple(sorted(modules)),
            threads=self._threads,
            sources=self._sources,
            logs=log_lines.installed(),
        )

    def _note_readiness(self) -> None:
        ready = any(p.ready and not p.retired for p in self._dispatch.processes.values())
        expected = not self._failed_starts and not self._draining
        self._readiness.note(self._clock.monotonic(), ready=ready, expected=expected)

    def _start_failed(self, now: Millis, reason: str) -> None:
        self._failed_starts += 1
        self._start_at = now + START_PAUSES[min(self._failed_starts, len(START_PAUSES) - 1)]
        if self._failed_starts < FAILED_STARTS or self._dispatch.processes:
            return
        snooze = Snooze(PROCESS_RETRY_DELAY, f"no handler process could be started: {reason}")
        while self._dispatch.waiting:
            call = self._dispatch.waiting.popleft()
            self._return(call, Returned(failure=failure_of(snooze)))

    def _on_pipe(self, number: int, events: int) -> None:
        process = self._processes.get(number)
        if process is None:
            return
        if events & selectors.EVENT_READ:
            self._received(number, process.receive())
            if process.closed_by_child:
                self._on_exit(number)
                return
        self._flush(process)

    def _flush(self, process: HandlerProcess) -> None:
        """Waits for room in the pipe only while something is left to send."""
        events = selectors.EVENT_READ
        if not process.flush():
            events |= selectors.EVENT_WRITE
        key = self._selector.get_key(process.pipe)
        if key.events != events:
            self._selector.modify(process.pipe, events, key.data)

    def _send(self, number: int, messages: Sequence[Message]) -> None:
        process = self._processes[number]
        process.send(messages)
        self._flush(process)

    def _on_exit(self, number: int, _events: int = 0) -> None:
        """A process has ended, or closed its pipe. What it has sent before still counts."""
        process = self._processes.get(number)
        if process is None:
            return
        self._received(number, process.rest())
        ready = self._dispatch.processes[number].ready
        code = self._end_process(number)
        now = self._clock.monotonic()
        if number in self._killed:
            self._killed.discard(number)
        elif not ready:
            self._start_failed(now, how_it_ended(code, "process"))
        elif now - self._started_at.pop(number, 0) < SHORTEST_LIFE:
            self._start_at = now + SECOND // 2

    def _end_process(self, number: int) -> int | None:
        """Kills a process, with everything below it, and ends what it had begun. Nothing of it runs
        any more when the outcomes are returned."""
        process = self._processes[number]
        self._selector.unregister(process.pipe)
        if process.exited is not None:
            self._selector.unregister(process.exited)
        code = process.close()
        del self._processes[number]
        now = self._clock.monotonic()
        killed = number in self._killed
        held = not self._dispatch.processes[number].empty
        ended = self._dispatch.died(number, process.marks, now)
        process.marks.close()
        if held and not killed:
            fields = {"step": "execute", "exit_code": code, "tasks": len(ended)}
            log.error("handler process died", extra=fields)
        for call in ended:
            self._return(call, after_death(call, killed, code))
        return code

    def _kill(self, number: int) -> None:
        self._killed.add(number)
        self._end_process(number)
        self._killed.discard(number)

    def _kill_all(self) -> None:
        self._drain()
        for number in list(self._processes):
            self._kill(number)

    def _drain(self) -> None:
        self._draining = True
        self._return_waiting()
        for process in self._dispatch.processes.values():
            if process.not_begun:
                self._send(process.number, [(RECALL, list(process.not_begun))])

    def _return_waiting(self) -> None:
        while self._dispatch.waiting:
            self._return(self._dispatch.waiting.popleft(), Returned(failure=INTERRUPTED))

    # calls

    def _hand_out(self) -> None:
        if self._draining:
            self._return_waiting()
            return
        now = self._clock.monotonic()
        for number, calls in self._dispatch.hand_out(now):
            marks = self._processes[number].marks
            messages: list[Message] = []
            for call in calls:
                control: RunControl = call.run.control
                marks[call.place] = 0
                control.restart_timeout(now)
                messages.append((RUN, call.number, call.place, control.deadline, call.run.data))
                if control.reason is not None:
                    messages.append((STOP, call.number, control.reason))
            self._send(number, messages)

    def _look(self) -> None:
        now = self._clock.monotonic()
        for number, process in self._dispatch.processes.items():
            if process.not_begun:
                self._mark_begun(number, process, now)
        for number, numbers in self._dispatch.recalls(now):
            log.debug("tasks recalled", extra={"step": "execute", "tasks": len(numbers)})
            self._send(number, [(RECALL, numbers)])
        for number in self._dispatch.to_kill(now):
            log.warning("handler process killed: handler not stopped", extra={"step": "execute"})
            self._kill(number)
        for number, running in list(self._processes.items()):
            if running.exited is None and running.supervised.poll() is not None:
                self._on_exit(number)

    def _mark_begun(self, number: int, process: Process, now: Millis) -> None:
        waited = dict(process.not_begun)
        self._dispatch.mark_begun(process, self._processes[number].marks, now)
        for call in waited.values():
            if call.begun_at is not None:
                call.run.control.restart_timeout(now)
                call.run.control.queued = False

    def _received(self, number: int, messages: Sequence[Message]) -> None:
        process = self._dispatch.processes[number]
        for message in messages:
            match message:
                case (kind, call_number, waited, took, result, failure, stopped) if kind == ENDED:
                    call = self._dispatch.ended(process, call_number, took)
                    if call is not None:
                        call.run.control.mark_started(call.sent_at + round(waited))
                        known = None if failure is None else pickle.loads(failure)
                        self._return(call, Returned(result=result, failure=known, stopped=stopped))
                case (kind,) if kind == READY:
                    process.ready = True
                    self._failed_starts = 0
                case (kind, numbers) if kind == RECALLED:
                    self._dispatch.recalled(process, numbers)
                case (kind, call_number, question) if kind == ASKED:
                    call = process.find(call_number)
                    if call is not None:
                        self._questions.ask(partial(self._answer, number, call, question))

    def _return(self, call: Call, returned: Returned) -> None:
        control: RunControl = call.run.control
        control.on_stop = None
        control.interrupt.disarm()
        control.queued = False
        call.run.on_return(returned)

    def _place_of(self, call: Call) -> Process | None:
        processes = self._dispatch.processes.values()
        return next((p for p in processes if p.find(call.number) is call), None)

    def _send_stop(self, call: Call) -> None:
        process = self._place_of(call)
        reason = call.run.control.reason
        if process is not None and reason is not None:
            self._send(process.number, [(STOP, call.number, reason)])

    def _interrupt(self, call: Call) -> None:
        """The handler is interrupted in its thread; if that does not help, its process is killed
        later, in `_look`."""
        process = self._place_of(call)
        if process is not None:
            call.kill_at = self._clock.monotonic() + self._kill_after
            self._send(process.number, [(INTERRUPT, call.number)])
        elif call in self._dispatch.waiting:
            self._dispatch.waiting.remove(call)
            self._return(call, Returned(failure=failure_of(Stopped()), stopped=True))

    # questions

    def _answer(self, number: int, call: Call, data: bytes) -> None:
        message = (ANSWER, call.number, pickle.dumps(answer(call.run.control, pickle.loads(data))))
        self._post(partial(self._send_answer, number, message))

    def _send_answer(self, number: int, message: Message) -> None:
        if number in self._processes:
            self._send(number, [message])


def _log_failure(error: BaseException) -> None:
    log.error("handler processes failed", exc_info=error, extra={"step": "execute"})
