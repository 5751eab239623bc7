"""The template of isolated handlers: `python -m duetime.executor.isolation CONTROL LIFE PID`.

It has imported everything that a handler needs, so each attempt gets a fresh fork of it, which
takes a fiftieth of a new interpreter. The fork talks to the executor over a pipe of its own. When
it has ended, the template kills what it has left behind and says so over `CONTROL`.
"""

import atexit
import importlib
import os
import pickle
import signal
import socket
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from duetime.core.errors import Snooze
from duetime.core.results import encode_result
from duetime.executor.call_handler import call_handler
from duetime.executor.failures import failure_of
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.load import find_handler, restore_paths
from duetime.executor.isolation.parent import Parent
from duetime.executor.isolation.protocol import (
    ENDED,
    MESSAGE,
    PROCESS_RETRY_DELAY,
    Failed,
    RunRequest,
    Setup,
    Succeeded,
)
from duetime.executor.isolation.supervisor import run_supervised
from duetime.executor.run_control import RunControl
from duetime.handlers import sources
from duetime.logs import formatting as log_lines
from duetime.logs import task_context as task_log

CLEAN_UP_TIMEOUT = 5.0  # seconds to kill processes that multiply as fast as they are killed
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(control: int, life: int, executor: int) -> None:
    """`life` is a pipe that closes when the executor ends, and `executor` its process id."""
    for descriptor in (control, life):
        os.set_inheritable(descriptor, False)
    run_supervised([control], life, executor)
    processes.adopt_orphans()
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # a handler may signal its parent by mistake
    connection = socket.socket(fileno=control)
    try:
        _prepare(_read_setup(connection))
        while pipe := _next_pipe(connection):
            status = _run_in_fork(pipe, connection)
            connection.sendall(ENDED.pack(status))
    except (EOFError, OSError):
        return  # the executor is gone


def _read_setup(connection: socket.socket) -> Setup:
    """Raises EOFError."""
    with connection.makefile("rb", buffering=0) as stream:
        setup: Setup = pickle.load(stream)
        return setup


def _next_pipe(connection: socket.socket) -> int | None:
    """Returns the child's end of the pipe of the next attempt; None when the executor is gone."""
    data, descriptors, _, _ = socket.recv_fds(connection, len(MESSAGE), 1)
    return descriptors[0] if data else None


def _prepare(setup: Setup) -> None:
    restore_paths(setup.path, setup.python_path)
    sources.import_from(setup.sources)
    if setup.logs is not None:
        log_lines.install(setup.logs)
    for module in setup.modules:
        if _may_be_shared(module):
            importlib.import_module(module)


def _may_be_shared(module: str) -> bool:
    """Whether forks can share what a module has when it is imported. They cannot share a thread, an
    open file or a connection, nor a process: such a module, and one that cannot be imported, is
    imported in each fork. A fork finds out."""
    if not processes.LINUX:
        return False
    if pid := os.fork():
        return os.waitpid(pid, 0)[1] == 0
    shareable = False
    try:
        processes.end_with_parent()
        _silence()
        before = os.listdir("/proc/self/fd")
        importlib.import_module(module)
        alone = len(os.listdir("/proc/self/task")) == 1
        shareable = alone and os.listdir("/proc/self/fd") == before and not processes.has_children()
    finally:
        os._exit(0 if shareable else 1)


def _silence() -> None:
    """What a module prints when it is imported comes from the import that counts."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _run_in_fork(descriptor: int, connection: socket.socket) -> int:
    """Returns the wait status of the fork, once nothing of it is left."""
    pipe = Connection(descriptor)
    try:
        child = os.fork()
    except OSError as error:
        snooze = Snooze(PROCESS_RETRY_DELAY, f"no process could be started in the child: {error}")
        pipe.send(Failed(failure=failure_of(snooze)))
        pipe.close()
        return 0
    if child == 0:
        connection.close()
        _run_and_exit(pipe)
    pipe.close()
    status = os.waitpid(child, 0)[1]
    if processes.has_children():
        processes.kill_below(os.getpid(), CLEAN_UP_TIMEOUT)
    return status


def _run_and_exit(pipe: "Connection[Any, Any]") -> NoReturn:
    code = 1
    try:
        os.setpgid(0, 0)  # so that a handler that signals its group does not reach the template
        for number in STOP_SIGNALS:
            default = number == signal.SIGINT
            signal.signal(number, signal.default_int_handler if default else signal.SIG_DFL)
        processes.end_with_parent()
        _seed_numpy()
        request = pipe.recv()
        run(request, Parent(pipe), pipe)
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


def _seed_numpy() -> None:
    """Every fork would draw the same numbers: numpy, unlike `random`, does not see a fork."""
    if (numpy := sys.modules.get("numpy")) is not None and "numpy.random" in sys.modules:
        numpy.random.seed()


def run(request: RunRequest, parent: Parent, pipe: "Connection[Any, Any]") -> None:
    control = RunControl(
        request.task,
        parent.renew,
        lambda: request.previous,
        read_results=parent.results_page,
        children=parent,
    )
    control.trace = request.trace
    try:
        _listen(parent, control, pipe)
        # The executor refuses a large result if it has no place for it.
        result = encode_result(_call(request, control), large=True)
    except BaseException as error:  # noqa: BLE001 - the executor gets every kind of failure
        parent.report(Failed(failure=failure_of(error)))
    else:
        parent.report(Succeeded(result=result))


def _listen(parent: Parent, control: RunControl, pipe: "Connection[Any, Any]") -> None:
    def listen() -> None:
        while True:
            try:
                notice = pipe.recv()
            except (EOFError, OSError):
                _end()
            if notice.reason is not None:
                control.request_stop(notice.reason)
            if notice.answer is not None:
                parent.answered(notice.answer)

    try:
        threading.Thread(target=listen, daemon=True).start()
    except RuntimeError as error:
        raise Snooze(
            PROCESS_RETRY_DELAY, f"no thread could be started in the child: {error}"
        ) from None


def _call(request: RunRequest, control: RunControl) -> Any:
    token = task_log.begin(request.task)
    try:
        handler = find_handler(request.module, request.name)
        return call_handler(handler, request.task.spec.payload, control)
    finally:
        task_log.end(token)


def _end() -> NoReturn:
    """The template kills what the handler has started."""
    processes.kill(os.getpid())
    os._exit(1)  # not reached


if __name__ == "__main__":
    main(*(int(fd) for fd in sys.argv[1:]))
