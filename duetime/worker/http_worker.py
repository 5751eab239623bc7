"""A worker that gets its tasks from a runner over HTTP: `duetime worker --url`.

The worker pool runs the attempts, as in the runner. Leases come as the pool has slots, and the
outbox reports what has ended.
"""

import logging
import socket

from duetime.engine.clock import SystemClock, SystemRandom
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.worker.handler_processes import handler_processes
from duetime.worker.http_connection import Address, BadRunnerUrl
from duetime.worker.http_executor import HttpExecutor
from duetime.worker.http_source import HttpLanes, Wanted
from duetime.worker.options import BadConfiguration, WorkerOptions
from duetime.worker.process import Connected
from duetime.worker.runner_calls import RunnerCalls

REPORT_TIMEOUT = 20.0  # seconds to report the last outcomes

log = logging.getLogger(__name__)


def connect(options: WorkerOptions) -> Connected:
    """Makes the first call for leases. Raises BadConfiguration if the runner refuses it. A runner
    that does not answer is asked again later."""
    try:
        address = Address.parse(options.url or "")
    except BadRunnerUrl as error:
        raise BadConfiguration(f"--url: {error}") from None
    if options.token is not None and address.plain_to_others:
        log.warning("token sent over plain http: put a proxy with TLS in front of the runner")
    clock, chance = SystemClock(), SystemRandom()
    calls = RunnerCalls(address, options.token, options.name)
    processes = handler_processes(options, clock)
    executor = HttpExecutor(calls, clock, processes)
    wanted = Wanted(
        pool=options.pool,
        lanes=options.lanes,
        handlers=lambda: sorted(registry.names()),
        concurrency=options.concurrency,
        host=socket.gethostname(),
        new_request=lambda: chance.new_id(clock.now()),
    )
    pool = WorkerPool(executor, clock, options.concurrency, name="worker", processes=processes)
    executor.outbox.running = lambda: pool.running
    source = HttpLanes(calls, executor, clock, wanted, pool.wait_for_slots)
    executor.on_refused = source.refuse
    executor.start()
    source.ready(0, 1)

    def finish() -> None:
        source.give_back()
        if left := executor.close(REPORT_TIMEOUT):
            log.error("outcomes lost: the runner does not answer", extra={"outcomes": left})

    return Connected(pool=pool, source=source, clock=clock, finish=finish)
