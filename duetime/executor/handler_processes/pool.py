"""The handler processes of an executor: a fixed number of them, each replaced when it ends.

One thread owns the processes, their sockets and the dispatch. Other threads post it what to do, so
nothing here has a lock. It never waits for a store: a handler's questions are answered by threads
of their own.
"""

import logging
import pickle
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from queue import SimpleQueue

from duetime.core.errors import Snooze, Stopped
from duetime.core.ports import Clock
from duetime.core.steps.record import INTERRUPTED, Failure
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.executor.failures import failure_of
from duetime.executor.handler_processes.calls import (
    CalledRun,
    OnReturn,
    return_call,
    run_messages,
)
from duetime.executor.handler_processes.dispatch import KILL_AFTER, Call, Dispatch, Process
from duetime.executor.handler_processes.inbox import Inbox
from duetime.executor.handler_processes.process_setup import setup_of
from duetime.executor.handler_processes.protocol import (
    ANSWER,
    ASKED,
    ENDED,
    INTERRUPT,
    READY,
    RECALL,
    RECALLED,
    STOP,
    Message,
    task_bytes,
)
from duetime.executor.handler_processes.questions import Questions
from duetime.executor.handler_processes.readiness import Readiness
from duetime.executor.handler_processes.returned import Returned, after_death
from duetime.executor.handler_processes.running_processes import RunningProcesses
from duetime.executor.handler_processes.start_pauses import StartPauses
from duetime.executor.isolation.answers import answer
from duetime.executor.isolation.protocol import PROCESS_RETRY_DELAY
from duetime.executor.isolation.supervised_process import how_it_ended
from duetime.executor.run_control import RunControl
from duetime.handlers import sources

log = logging.getLogger(__name__)

SPARE_PLACES = 256  # tasks that a process holds beside those in its threads
CHECK_EVERY: Millis = SECOND  # whether handlers were reloaded, or a process ended unseen
FAILED_STARTS = 3  # in a row, after which waiting tasks are snoozed

_numbers = count()  # of calls and processes; `next` of a count is atomic


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
        self._inbox = Inbox()
        self._processes = RunningProcesses(self._inbox, self._received, self._on_exit)
        self._pauses = StartPauses()
        self._sources = sources.kept()
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
        run = CalledRun(control, data, on_return)
        call = Call(next(_numbers), task.spec.target["handler"], run)
        control.killable = True
        control.on_stop = lambda: self._inbox.post(partial(self._send_stop, call))
        control.interrupt.arm(lambda: self._inbox.post(partial(self._interrupt, call)))
        self._inbox.post(partial(self._dispatch.waiting.append, call))

    def run(self, task: Task, module: str, control: RunControl) -> Returned:
        """Run a handler, and wait for its end."""
        returned: SimpleQueue[Returned] = SimpleQueue()
        self.call(task, module, control, returned.put)
        return returned.get()

    def drain(self) -> None:
        """Have everything that has not begun end as interrupted."""
        self._inbox.post(self._drain)

    def kill(self) -> None:
        """End the processes now. What they run ends as interrupted."""
        self._inbox.post(self._kill_all)

    def close(self) -> None:
        """End the processes, with what they run."""
        self._closing = True
        self._inbox.wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        if not self._thread.is_alive():
            self._close_descriptors()
        self._questions.close()

    def pids(self) -> list[int]:
        """Returns the process ids of the supervisors."""
        return [process.supervised.pid for process in list(self._processes.values())]

    # the thread

    def _run(self) -> None:
        try:
            while not self._closing:
                self._replace_processes()
                self._processes.wait(self._longest_wait())
                self._inbox.run()
                self._look()
                self._hand_out()
                self._note_readiness()
        except BaseException as error:  # noqa: BLE001 - it ends the executor
            self.on_failure(error)
        finally:
            self._readiness.end()
            self._close_descriptors()

    def _close_descriptors(self) -> None:
        self._processes.close_all()
        self._inbox.close()

    def _longest_wait(self) -> float | None:
        now = self._clock.monotonic()
        timers = [now + CHECK_EVERY] if self._sources or self._processes else []
        if (at := self._dispatch.next_timer(now)) is not None:
            timers.append(at)
        if len(self._processes) < self._count and not self._draining:
            timers.append(self._pauses.next_at)
        return max(min(timers) - now, 0) / SECOND if timers else None

    # the processes

    def _replace_processes(self) -> None:
        now = self._clock.monotonic()
        if self._sources is not sources.kept():
            self._sources = sources.kept()
            for process in self._dispatch.processes.values():
                process.retired = True
        current = sum(not p.retired for p in self._dispatch.processes.values())
        while current < self._count and now >= self._pauses.next_at and not self._draining:
            if not self._start_process(now):
                return
            current += 1
        for number, process in list(self._dispatch.processes.items()):
            if process.retired and process.empty:
                self._end_process(number)

    def _start_process(self, now: Millis) -> bool:
        number = next(_numbers)
        try:
            setup = setup_of(self._load, self._threads)
            self._processes.start(number, setup, self._places)
        except OSError as error:
            log.warning("handler process not started: %s", error, extra={"step": "execute"})
            self._start_failed(now, str(error))
            return False
        self._pauses.started(number, now)
        self._dispatch.processes[number] = Process(number, self._threads, self._places)
        return True

    def _note_readiness(self) -> None:
        ready = any(p.ready and not p.retired for p in self._dispatch.processes.values())
        expected = not self._pauses.failed_starts and not self._draining
        self._readiness.note(self._clock.monotonic(), ready=ready, expected=expected)

    def _start_failed(self, now: Millis, reason: str) -> None:
        self._pauses.failed(now)
        if self._pauses.failed_starts < FAILED_STARTS or self._dispatch.processes:
            return
        snooze = Snooze(PROCESS_RETRY_DELAY, f"no handler process could be started: {reason}")
        self._return_waiting(failure_of(snooze))

    def _on_exit(self, number: int) -> None:
        """A process has ended, or closed its pipe. What it has sent before still counts."""
        self._received(number, self._processes[number].rest())
        ready = self._dispatch.processes[number].ready
        now = self._clock.monotonic()
        if ready:
            self._pauses.died(number, now)
        code = self._end_process(number)
        if not ready:
            self._start_failed(now, how_it_ended(code, "process"))

    def _end_process(self, number: int, *, killed: bool = False) -> int | None:
        """Kills a process, with everything below it, and ends what it had begun. Nothing of it runs
        any more when the outcomes are returned."""
        marks = self._processes[number].marks
        code = self._processes.close(number)
        self._pauses.forget(number)
        held = not self._dispatch.processes[number].empty
        ended = self._dispatch.died(number, marks, self._clock.monotonic())
        marks.close()
        if held and not killed:
            fields = {"step": "execute", "exit_code": code, "tasks": len(ended)}
            log.error("handler process died", extra=fields)
        for call in ended:
            return_call(call, after_death(call, killed, code))
        return code

    def _kill_all(self) -> None:
        self._drain()
        for number in list(self._processes):
            self._end_process(number, killed=True)

    def _drain(self) -> None:
        self._draining = True
        self._return_waiting(INTERRUPTED)
        for process in self._dispatch.processes.values():
            if process.not_begun:
                self._processes.send(process.number, [(RECALL, list(process.not_begun))])

    def _return_waiting(self, failure: Failure) -> None:
        while self._dispatch.waiting:
            return_call(self._dispatch.waiting.popleft(), Returned(failure=failure))

    # calls

    def _hand_out(self) -> None:
        if self._draining:
            self._return_waiting(INTERRUPTED)
            return
        now = self._clock.monotonic()
        for number, calls in self._dispatch.hand_out(now):
            messages = run_messages(calls, self._processes[number].marks, now)
            self._processes.send(number, messages)

    def _look(self) -> None:
        now = self._clock.monotonic()
        for number, process in self._dispatch.processes.items():
            if process.not_begun:
                self._mark_begun(number, process, now)
        for number, numbers in self._dispatch.recalls(now):
            log.debug("tasks recalled", extra={"step": "execute", "tasks": len(numbers)})
            self._processes.send(number, [(RECALL, numbers)])
        for number in self._dispatch.to_kill(now):
            log.warning("handler process killed: handler not stopped", extra={"step": "execute"})
            self._end_process(number, killed=True)
        self._processes.look_for_exits()

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
                        return_call(call, Returned(result=result, failure=known, stopped=stopped))
                case (kind,) if kind == READY:
                    process.ready = True
                    self._pauses.ready()
                case (kind, numbers) if kind == RECALLED:
                    self._dispatch.recalled(process, numbers)
                case (kind, call_number, question) if kind == ASKED:
                    call = process.find(call_number)
                    if call is not None:
                        self._questions.ask(partial(self._answer, number, call, question))

    def _send_stop(self, call: Call) -> None:
        process = self._dispatch.process_of(call)
        reason = call.run.control.reason
        if process is not None and reason is not None:
            self._processes.send(process.number, [(STOP, call.number, reason)])

    def _interrupt(self, call: Call) -> None:
        """The handler is interrupted in its thread; if that does not help, its process is killed
        later, in `_look`."""
        process = self._dispatch.process_of(call)
        if process is not None:
            call.kill_at = self._clock.monotonic() + self._kill_after
            self._processes.send(process.number, [(INTERRUPT, call.number)])
        elif call in self._dispatch.waiting:
            self._dispatch.waiting.remove(call)
            return_call(call, Returned(failure=failure_of(Stopped()), stopped=True))

    # questions

    def _answer(self, number: int, call: Call, data: bytes) -> None:
        message = (ANSWER, call.number, pickle.dumps(answer(call.run.control, pickle.loads(data))))
        self._inbox.post(partial(self._send_answer, number, message))

    def _send_answer(self, number: int, message: Message) -> None:
        if number in self._processes:
            self._processes.send(number, [message])


def _log_failure(error: BaseException) -> None:
    log.error("handler processes failed", exc_info=error, extra={"step": "execute"})
