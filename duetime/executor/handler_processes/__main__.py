"""A handler process: `python -m duetime.executor.handler_processes PIPE MARKS LIFE PID`."""

import gc
import importlib
import logging
import mmap
import os
import socket
import sys

from duetime.core.errors import DuetimeError
from duetime.executor.handler_processes.handler_threads import HandlerThreads, read_setup
from duetime.executor.handler_processes.protocol import Frames, Setup
from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.load import restore_paths
from duetime.executor.isolation.supervisor import run_supervised
from duetime.handlers import registry, sources
from duetime.logs import formatting as log_lines

log = logging.getLogger(__name__)


def main(pipe: int, marks: int, life: int, executor: int) -> None:
    """`marks` is a file in memory, shared with the executor; the others as for `run_supervised`."""
    for descriptor in (pipe, marks, life):
        os.set_inheritable(descriptor, False)
    run_supervised([pipe], life, executor)
    connection = socket.socket(fileno=pipe)
    frames = Frames()
    try:
        setup, _ = read_setup(connection, frames)  # the next frame comes once this one is ready
    except EOFError:
        return  # the executor is gone already
    _load_handlers(setup)
    gc.freeze()  # loaded modules stay; collections need not look at them
    memory = mmap.mmap(marks, 0)
    HandlerThreads(connection, frames, memory, setup.threads).serve()
    processes.kill(os.getpid())  # the supervisor kills what the handlers have started


def _load_handlers(setup: Setup) -> None:
    """A module that cannot be imported here fails the tasks of its handlers, not the process."""
    restore_paths(setup.path, setup.python_path)
    sources.import_from(setup.sources)
    if setup.logs is not None:
        log_lines.install(setup.logs)
    for source in setup.load:
        try:
            registry.load(source)
        except DuetimeError as error:
            log.warning("handlers not loaded: %s", error, extra={"step": "execute"})
    for module in setup.modules:
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - of the handlers' own code
            fields = {"step": "execute", "handlers": module}
            log.warning("handlers not loaded: %r", error, extra=fields)


if __name__ == "__main__":
    main(*(int(fd) for fd in sys.argv[1:]))
