"""The template of isolated handlers: `python -m duetime.executor.isolation CONTROL LIFE PID`.

It has imported everything that a handler needs, so a process for a handler is a fork of it, which
takes a fiftieth of a new interpreter. The fork (`handler_process.py`) talks to the executor over a
pipe of its own. When it has ended, the template kills what it has left behind and says so over
`CONTROL`.
"""

import gc
import importlib
import os
import pickle
import signal
import socket
import sys
from multiprocessing.connection import Connection

from duetime.core.errors import Snooze
from duetime.executor.failures import failure_of
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.handler_process import STOP_SIGNALS, HandlerProcess
from duetime.executor.isolation.load import restore_paths
from duetime.executor.isolation.protocol import (
    ENDED,
    MESSAGE,
    PROCESS_RETRY_DELAY,
    Failed,
    Setup,
)
from duetime.executor.isolation.supervisor import run_supervised
from duetime.handlers import sources
from duetime.logs import formatting as log_lines

CLEAN_UP_TIMEOUT = 5.0  # seconds to kill processes that multiply as fast as they are killed


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
        setup = _read_setup(connection)
        _prepare(setup)
        while pipe := _next_pipe(connection):
            status = _run_in_fork(pipe, connection, setup.idle_timeout)
            connection.sendall(ENDED.pack(status))
    except (EOFError, OSError):
        return  # the executor is gone


def _read_setup(connection: socket.socket) -> Setup:
    """Raises EOFError."""
    with connection.makefile("rb", buffering=0) as stream:
        setup: Setup = pickle.load(stream)
        return setup


def _next_pipe(connection: socket.socket) -> int | None:
    """Returns the child's end of the pipe of the next fork; None when the executor is gone."""
    data, descriptors, _, _ = socket.recv_fds(connection, len(MESSAGE), 1)
    if not data:
        return None
    os.set_inheritable(descriptors[0], False)
    return descriptors[0]


def _prepare(setup: Setup) -> None:
    restore_paths(setup.path, setup.python_path)
    sources.import_from(setup.sources)
    if setup.logs is not None:
        log_lines.install(setup.logs)
    for module in setup.modules:
        if _may_be_shared(module):
            importlib.import_module(module)
    gc.freeze()  # a collection in a fork would write to, and so copy, the pages of the template


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


def _run_in_fork(descriptor: int, connection: socket.socket, idle_timeout: float) -> int:
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
        HandlerProcess(pipe, idle_timeout).serve_and_exit()
    pipe.close()
    status = os.waitpid(child, 0)[1]
    if processes.has_children():
        processes.kill_below(os.getpid(), CLEAN_UP_TIMEOUT)
    return status


if __name__ == "__main__":
    main(*(int(fd) for fd in sys.argv[1:]))
