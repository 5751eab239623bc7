"""The process that runs isolated handlers: a fork of the template.

It runs one attempt at a time. After an attempt that has left nothing behind it waits for the next
one; otherwise it ends, and the next attempt gets another fork. The messages of the pipe are in
order, and the listener gives each to the attempt whose request came before it. So a request to stop
that arrives after the end of an attempt never reaches the next one.
"""

import atexit
import os
import signal
import sys
import threading
from contextvars import copy_context
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, NoReturn

from duetime.core.errors import Snooze
from duetime.core.results import encode_result
from duetime.core.value import replace
from duetime.executor.call_handler import call_handler
from duetime.executor.failures import failure_of
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.load import find_handler
from duetime.executor.isolation.parent import Parent
from duetime.executor.isolation.protocol import (
    PROCESS_RETRY_DELAY,
    EndedIdle,
    Failed,
    RunRequest,
    StopNotice,
    Succeeded,
)
from duetime.executor.isolation.surroundings import Surroundings
from duetime.executor.run_control import RunControl
from duetime.handlers.handler import Handler
from duetime.logs import task_context as task_log

MOST_ATTEMPTS = 100  # in one process
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Attempt:
    """One attempt in this process."""

    def __init__(self, request: RunRequest, pipe: "Connection[Any, Any]") -> None:
        self.request = request
        self.parent = Parent(pipe)
        self.control = RunControl(
            request.task,
            self.parent.renew,
            lambda: request.previous,
            read_results=self.parent.results_page,
            children=self.parent,
        )
        self.control.trace = request.trace


class HandlerProcess:
    """`idle_timeout`: how many seconds it waits for its next attempt."""

    def __init__(self, pipe: "Connection[Any, Any]", idle_timeout: float) -> None:
        self._pipe = pipe
        self._idle_timeout = idle_timeout
        self._attempts: SimpleQueue[Attempt | None] = SimpleQueue()  # None: the executor is gone
        self._latest: Attempt | None = None  # whose messages arrive now
        self._running = True  # an attempt, which ends with the pipe
        self._surroundings: Surroundings | None = None

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
        attempt: Attempt | None = self._begin(self._pipe.recv())
        try:
            threading.Thread(target=self._listen, daemon=True).start()
        except RuntimeError as error:
            snooze = Snooze(
                PROCESS_RETRY_DELAY, f"no thread could be started in the child: {error}"
            )
            self._pipe.send(Failed(failure=failure_of(snooze)))
            return
        done = 0
        while attempt is not None:
            outcome = self._run(attempt)
            done += 1
            if outcome.kept and done < MOST_ATTEMPTS:
                self._running = False
                attempt.parent.report(outcome)
                attempt = self._next_attempt()
            else:
                attempt.parent.report(replace(outcome, kept=False))
                return

    def _next_attempt(self) -> Attempt | None:
        """Returns None if the process should end. The executor gives an attempt whose request has
        crossed EndedIdle to another process."""
        try:
            return self._attempts.get(timeout=self._idle_timeout)
        except Empty:
            self._pipe.send(EndedIdle())
            return None

    def _begin(self, request: RunRequest) -> Attempt:
        self._latest = Attempt(request, self._pipe)
        return self._latest

    def _listen(self) -> None:
        while True:
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                if self._running:
                    _kill_itself()
                self._attempts.put(None)
                return
            if isinstance(message, RunRequest):
                self._running = True
                self._attempts.put(self._begin(message))
            elif isinstance(message, StopNotice) and (latest := self._latest) is not None:
                if message.reason is not None:
                    latest.control.request_stop(message.reason)
                if message.answer is not None:
                    latest.parent.answered(message.answer)

    def _run(self, attempt: Attempt) -> Succeeded | Failed:
        token = task_log.begin(attempt.request.task)
        try:
            handler = self._find_handler(attempt.request)
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
        return replace(outcome, kept=ended_by_itself and self._is_reusable(attempt))

    def _find_handler(self, request: RunRequest) -> Handler[..., Any]:
        imported = request.module in sys.modules
        handler = find_handler(request.module, request.name)
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
    except OSError:
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
    payload = attempt.request.task.spec.payload
    # The executor refuses a large result if it has no place for it.
    return encode_result(call_handler(handler, payload, attempt.control), large=True)


def _kill_itself() -> NoReturn:
    """The template kills what the handler has started."""
    processes.kill(os.getpid())
    os._exit(1)  # not reached
