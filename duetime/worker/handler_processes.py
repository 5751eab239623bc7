"""The handler processes of a worker, as its options ask for them."""

import os
from math import ceil

from duetime.core.ports import Clock
from duetime.executor.handler_processes.pool import HandlerProcesses
from duetime.worker.options import WorkerOptions


def handler_processes(options: WorkerOptions, clock: Clock) -> HandlerProcesses | None:
    """Returns as many as the machine has cores, unless the options say otherwise; None if threads
    of the worker run its handlers."""
    count = options.processes
    if count is None:
        count = min(os.cpu_count() or 1, options.concurrency)
    if not count:
        return None
    threads = ceil(options.concurrency / count)
    return HandlerProcesses(count, threads, clock, load=options.handlers)
