"""The keeper: parent of an isolated handler's process, and the one that ends it.

It runs no code of the handler's, so nothing can hold it up. When the handler's process has ended,
or the executor wants an end to it or is dead itself, the keeper kills everything that the handler
has started, and then ends the way the handler's process did.
"""

import os
import resource
import select
import signal
from typing import NoReturn

from lambdas.executor import processes

LOOK = 1_000  # milliseconds between two looks at whether the executor still lives
PATIENCE = 5.0  # seconds for killing what multiplies as fast as it is killed


def keep(handler: int, life: int, executor: int) -> NoReturn:
    """`handler` and `executor` are process ids; `life` ends when the executor closes its end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # a handler may signal its parent by mistake
    status = _wait(handler, life, executor)
    if status is None:
        processes.kill(handler)
        status = os.waitpid(handler, 0)[1]
    if processes.LINUX:
        processes.kill_below(os.getpid(), PATIENCE)
    else:
        processes.kill_group(handler)
    _end_like(status)


def _wait(handler: int, life: int, executor: int) -> int | None:
    """How the handler's process has ended; None if it is to be ended. A copy of the executor, made
    by a handler that forked there, may hold the other end of `life`: so its id is looked at too."""
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
        ready = dict(events.poll(LOOK))
        if life in ready or os.getppid() != executor:
            return None
        if woken in ready:
            os.read(woken, 4_096)


def _end_like(status: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core, of the handler, is enough
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))
