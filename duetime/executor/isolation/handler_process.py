"""The process that runs isolated handlers: a fork of the template.

It runs one attempt at a time. After an attempt that has left nothing behind it waits for the next
one; otherwise it ends, and the next attempt gets another fork. The messages of the pipe are in
order, and each is for the attempt whose request came before it. So a request to stop that arrives
after the end of an attempt never reaches the next one.

Handlers run in the main thread. Between two attempts it reads the pipe itself, so that one thread
wakes for an attempt, and not two. During an attempt the listener reads it, but only once the
attempt has run for a while or asks the executor something (`Listener`).
"""

import atexit
import os
import select
import signal
import sys
import threading
from contextlib import suppress
from contextvars import copy_context
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NoReturn

from duetime.core.errors import Snooze
from duetime.core.results import encode_result
from duetime.core.value import replace
from duetime.executor.call_handler import call_handler
from duetime.executor.failures import failure_of
from duetime.executor.handler_processes.protocol import TaskFields, read_task, task_of
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.core_use import CoreUse
from duetime.executor.isolation.load import find_handler
from duetime.executor.isolation.parent import Parent, Pipe
from duetime.executor.isolation.protocol import (
    PROCESS_RETRY_DELAY,
    EndedIdle,
    Failed,
    Question,
    RunRequest,
    StopNotice,
    Succeeded,
)
from duetime.executor.isolation.surroundings import Surroundings
from duetime.executor.run_control import RunControl
from duetime.handlers.handler import Handler
from duetime.logs import task_context as task_log

MOST_ATTEMPTS = 100  # in one process
LISTEN_AFTER = 0.05  # seconds that an attempt runs at least before the listener reads
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Attempt:
    """One attempt in this process."""

    def __init__(self, request: RunRequest, pipe: Pipe) -> None:
        self.request = request
        self.fields = read_task(request.task)
        self.task = task_of(self.fields, request.started_at)
        self.parent = Parent(pipe)
        self.control = RunControl(
            self.task,
            self.parent.renew,
            lambda: request.previous,
            read_results=self.parent.results_page,
            children=self.parent,
        )
        self.control.trace = self.fields.trace


class Listener:
    """The thread that reads the pipe while an attempt runs.

    One thread reads at a time. The main thread reads between two attempts. The listener takes over
    when an attempt has run for LISTEN_AFTER or asks a question, and gives back with the next
    request. `_lock` protects who reads, so each message is read by the thread that it is for."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._wake_ups: SimpleQueue[None] = SimpleQueue()
        self._requests: SimpleQueue[RunRequest | None] = SimpleQueue()  # None: the pipe is closed
        self._attempt: Attempt | None = None  # that runs, or ran last
        self._running = False  # an attempt, which ends with the pipe
        self._reads = False  # this thread, not the main thread
        self._reads_next = False  # also the next request
        self._sleeps = False  # until it is woken
        self._arrivals = select.poll()
        self._arrivals.register(pipe, select.POLLIN)

    # the main thread

    def start(self) -> None:
        """Raises RuntimeError if there can be no more threads."""
        threading.Thread(target=self._run, daemon=True).start()

    def first_request(self) -> RunRequest:
        """Raises EOFError or OSError if the executor is gone."""
        request: RunRequest = self._pipe.recv()
        return request

    def begin(self, attempt: Attempt) -> None:
        with self._lock:
            self._attempt, self._running = attempt, True
            wake, self._sleeps = self._sleeps, False
        if wake:
            self._wake_ups.put(None)

    def end(self) -> None:
        """From now on the process may lose its executor without being killed. Called before the
        outcome is sent: then the next request may arrive at any time, and who reads it is
        settled."""
        with self._lock:
            self._running = False
            self._reads_next = self._reads

    def next_request(self, timeout: float) -> RunRequest | None:
        """Returns None if the executor is gone. Raises Empty after `timeout` seconds."""
        if self._reads_next:
            return self._requests.get(timeout=timeout)
        give_up = monotonic() + timeout
        while self._arrivals.poll(max(give_up - monotonic(), 0) * 1_000):
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                return None
            if isinstance(message, RunRequest):
                return message
        raise Empty

    # any thread

    def send(self, message: Any) -> None:
        """Called by the parent of an attempt, whose questions need an answer."""
        if isinstance(message, Question) and not self._reads:
            with self._lock:
                self._reads = self._reads or self._running
            self._wake_ups.put(None)
        self._pipe.send(message)

    # the listener's thread

    def _run(self) -> None:
        seen: Attempt | None = None
        while True:
            with suppress(Empty):
                self._wake_ups.get(timeout=None if self._sleeps else LISTEN_AFTER)
            with self._lock:
                if self._running and self._attempt is seen:
                    self._reads = True
                seen = self._attempt
                reads = self._reads
                self._sleeps = not self._running and not reads
            if reads and not self._listen():
                return

    def _listen(self) -> bool:
        """Returns with the next request. False if the executor is gone."""
        while True:
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                if self._running:
                    _kill_itself()
                self._requests.put(None)
                return False
            if isinstance(message, RunRequest):
                with self._lock:
                    self._reads = False
                self._requests.put(message)
                return True
            if isinstance(message, StopNotice) and (attempt := self._attempt) is not None:
                if message.reason is not None:
                    attempt.control.request_stop(message.reason)
                if message.answer is not None:
                    attempt.parent.answered(message.answer)


class HandlerProcess:
    """`idle_timeout`: how many seconds it waits for its next attempt."""

    def __init__(self, pipe: "Connection[Any, Any]", idle_timeout: float) -> None:
        self._pipe = pipe
        self._idle_timeout = idle_timeout
        self._listener = Listener(pipe)
        self._surroundings: Surroundings | None = None
        self._core_use = CoreUse()

    def serve_and_exit(self) -> NoReturn:
        """Called in the fork."""
        code = 1
        try:
            _prepare()
            self._serve()
            for thread in threading.enumerate():
                if thread is not threading.current_thread() and not thread.daemon:
                    thread.join()
            atexit._run_exitfuncs()
            code = 0
        except EOFError:
            code = 0  # the executor is gone already
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _serve(self) -> None:
        """Runs attempts until the process should end. Raises EOFError or OSError when the executor
        is gone."""
        request: RunRequest | None = self._listener.first_request()
        try:
            self._listener.start()
        except RuntimeError as error:
            snooze = Snooze(
                PROCESS_RETRY_DELAY, f"no thread could be started in the child: {error}"
            )
            self._pipe.send(Failed(failure=failure_of(snooze)))
            return
        done = 0
        while request is not None:
            attempt = Attempt(request, self._listener)
            self._listener.begin(attempt)
            outcome = self._run(attempt)
            done += 1
            if not outcome.kept or done >= MOST_ATTEMPTS:
                attempt.parent.report(replace(outcome, kept=False))
                return
            self._listener.end()
            attempt.parent.report(outcome)
            request = self._next_request()

    def _next_request(self) -> RunRequest | None:
        """Returns None if the process should end. The executor gives an attempt whose request has
        crossed EndedIdle to another process."""
        try:
            return self._listener.next_request(self._idle_timeout)
        except Empty:
            self._pipe.send(EndedIdle())
            return None

    def _run(self, attempt: Attempt) -> Succeeded | Failed:
        token = task_log.begin(attempt.task)
        began = self._core_use.begin()
        try:
            handler = self._find_handler(attempt.fields)
            # A copy: the next attempt does not see the context variables that this one sets.
            result = copy_context().run(_call, handler, attempt)
            outcome: Succeeded | Failed = Succeeded(result=result)
            ended_by_itself = True
        except BaseException as error:  # noqa: BLE001 - the executor gets every kind of failure
            outcome = Failed(failure=failure_of(error))
            ended_by_itself = isinstance(error, Exception)
        finally:
            task_log.end(token)
        attempt.parent.end()
        return replace(
            outcome,
            kept=ended_by_itself and self._is_reusable(attempt),
            computed=self._core_use.computed_since(began),
        )

    def _find_handler(self, fields: TaskFields) -> Handler[..., Any]:
        imported = fields.module in sys.modules
        handler = find_handler(fields.module, fields.handler)
        if not imported or self._surroundings is None:
            self._surroundings = _surroundings()  # what the import has changed is no attempt's
        return handler

    def _is_reusable(self, attempt: Attempt) -> bool:
        """Whether the attempt has left nothing behind that the next one would find, but memory."""
        if not attempt.request.keep or self._surroundings is None:
            return False
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            return not processes.has_children() and self._surroundings.are_unchanged()
        except (OSError, ValueError):  # its output or its working directory is gone
            return False


def _surroundings() -> Surroundings | None:
    """Returns None where they cannot be read, so that each attempt gets a process of its own."""
    if not processes.LINUX:
        return None
    try:
        return Surroundings()
    except (OSError, ValueError):
        return None


def _prepare() -> None:
    os.setpgid(0, 0)  # so that a handler that signals its group does not reach the template
    for number in STOP_SIGNALS:
        default = number == signal.SIGINT
        signal.signal(number, signal.default_int_handler if default else signal.SIG_DFL)
    processes.end_with_parent()
    processes.adopt_orphans()  # so that a daemon of a handler is seen when its attempt ends
    _seed_numpy()


def _seed_numpy() -> None:
    """Every fork would draw the same numbers: numpy, unlike `random`, does not see a fork."""
    if (numpy := sys.modules.get("numpy")) is not None and "numpy.random" in sys.modules:
        numpy.random.seed()


def _call(handler: Handler[..., Any], attempt: Attempt) -> str | None:
    # The executor refuses a large result if it has no place for it.
    return encode_result(call_handler(handler, attempt.fields.payload, attempt.control), large=True)


def _kill_itself() -> NoReturn:
    """The template kills what the handler has started."""
    processes.kill(os.getpid())
    os._exit(1)  # not reached
