"""The supervisor: the parent of an isolated handler's process, which kills it.

It runs no code of the handler, so the handler cannot block it. When the handler's process has
ended, or the executor closes the pipe or dies, the supervisor kills everything that the handler has
started. It then ends with the exit status of the handler's process.
"""

import os
import resource
import select
import signal
from collections.abc import Sequence
from typing import NoReturn

from duetime.executor.isolation import process_tree as processes

EXECUTOR_CHECK_INTERVAL = 1_000  # milliseconds between two checks that the executor lives
KILL_TIMEOUT = 5.0  # seconds to kill processes that multiply as fast as they are killed


def run_supervised(pipes: Sequence[int], life: int, executor: int) -> None:
    """Forks: the fork returns, to run handlers, and its parent supervises it. The supervisor closes
    `pipes`, the fork's way to the executor. Raises OSError if there can be no other process."""
    processes.adopt_orphans()
    if handler := os.fork():
        for pipe in pipes:
            os.close(pipe)
        supervise(handler, life, executor)
    os.close(life)
    os.setpgid(0, 0)  # so that a handler that signals its group does not reach the supervisor
    processes.end_with_parent()


def supervise(handler: int, life: int, executor: int) -> NoReturn:
    """`handler` and `executor` are process ids; `life` is a pipe that the executor closes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a handler may signal its parent by mistake
    status = _wait(handler, life, executor)
    if status is None:
        processes.kill(handler)
        status = os.waitpid(handler, 0)[1]
    if processes.LINUX:
        processes.kill_below(os.getpid(), KILL_TIMEOUT)
    else:
        processes.kill_group(handler)
    _exit_like(status)


def _wait(handler: int, life: int, executor: int) -> int | None:
    """Returns the wait status of the handler's process, or None if it must be killed. A handler
    that forked inside the executor may hold the other end of `life`, so the parent's process id
    is checked too."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    events = select.poll()
    for fd in (life, woken):
        events.register(fd, select.POLLIN)
    while True:
        status = processes.reap().get(handler)
        if status is not None:
            return status
        ready = dict(events.poll(EXECUTOR_CHECK_INTERVAL))
        if life in ready or os.getppid() != executor:
            return None
        if woken in ready:
            os.read(woken, 4_096)


def _exit_like(status: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the handler's own core dump is enough
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))
