"""A worker on AWS: it receives from the queues of its pool, and writes to the table itself."""

import json
import logging
import os
from typing import Any

from duetime.aws import backend
from duetime.aws.settings import Settings
from duetime.core.errors import Snooze
from duetime.core.lanes import queue_of
from duetime.core.task import LONGEST_TIMEOUT, Task
from duetime.core.times import MINUTE, SECOND
from duetime.engine.quota_setting import quota_gate
from duetime.executor.children import ChildSubmission
from duetime.executor.executor import Executor
from duetime.executor.handler_processes.pool import HandlerProcesses
from duetime.executor.run_control import RunControl
from duetime.executor.targets import Target, Targets
from duetime.executor.targets.deployed import deployed_targets
from duetime.executor.targets.python import handlers_in, run_handler
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.worker.handler_processes import handler_processes
from duetime.worker.options import BadConfiguration, WorkerOptions
from duetime.worker.process import Connected
from duetime.worker.queue_source import QueueSource

log = logging.getLogger(__name__)

HOLD_EVERY = 30 * SECOND  # with every third heartbeat
HELD_FOR = 2 * MINUTE  # as the queues of a pool do by themselves
UNKNOWN_HANDLER_DELAY = 30.0  # seconds, until another worker may know the handler


def connect(options: WorkerOptions) -> Connected:
    """Raises BadConfiguration if the environment does not name the deployment, or has no such
    pool."""
    given = _settings(options)
    ports = backend.adapters().ports
    processes = handler_processes(options, ports.clock)
    quotas = quota_gate(given.quotas, backend.quota_store)
    executor = Executor(
        ports,
        _targets(given, processes),
        children=ChildSubmission(quotas=quotas, longest_timeout=given.longest_timeout),
        callback_url=given.callback_url or None,
        hold_every=HOLD_EVERY,
        held_for=HELD_FOR,
        processes=processes,
    )
    pool = WorkerPool(
        executor, ports.clock, options.concurrency, name="worker", processes=processes
    )
    queues = {lane: queue_of(lane, options.pool) for lane in options.lanes}
    return Connected(
        pool=pool,
        source=QueueSource(ports.lanes, queues, pool.wait_for_slots, ports.clock),
        clock=ports.clock,
        workers=backend.worker_store(),
        finish=backend.adapters().close,
    )


def _settings(options: WorkerOptions) -> Settings:
    if options.endpoint_url is not None:
        os.environ.update(_provisioned(options.endpoint_url, options.pool))
    try:
        given = backend.settings()
    except ValueError as error:
        raise BadConfiguration(f"the environment does not name a deployment: {error}") from None
    pools = given.pool_timeouts
    if options.pool is not None and options.pool not in pools:
        has = f"has {', '.join(sorted(pools))}" if pools else "has no pools"
        raise BadConfiguration(f"--pool: there is no pool {options.pool}; the deployment {has}")
    return given


def _provisioned(endpoint_url: str, pool: str | None) -> dict[str, str]:
    """Returns the environment of a deployment at another endpoint, where the table and the queues
    are created if they are absent, as `duetime local --backend aws --endpoint-url` does."""
    from duetime.aws import clients
    from duetime.aws.provision import SHARDS, TABLE, ensure_resources
    from duetime.aws.settings import queue_setting

    pools = [pool] if pool else []
    urls = ensure_resources(
        clients.dynamodb(endpoint_url), clients.sqs(endpoint_url), table=TABLE, pools=pools
    )
    return Settings(
        table=TABLE,
        queues=queue_setting(urls),
        pools=json.dumps(dict.fromkeys(pools, LONGEST_TIMEOUT)) if pools else "",
        shards=SHARDS,
        longest_timeout=LONGEST_TIMEOUT,
        endpoint_url=endpoint_url,
    ).environment()


def _targets(given: Settings, processes: HandlerProcesses | None) -> Targets:
    return deployed_targets(
        known_handlers(processes),
        backend.adapters().ports.clock,
        secrets=backend.secrets(),
        services=backend.services,
        hosts_allowed=given.hosts_allowed,
        databases=given.databases,
    )


def known_handlers(processes: HandlerProcesses | None = None) -> Target:
    """Returns the target that runs handlers. A queue cannot be asked for the tasks of certain
    handlers, so a task of a handler that this worker does not have goes back, and uses up no
    attempt: during a deployment another worker may have it."""
    run = handlers_in(processes) if processes else run_handler

    def run_known(task: Task, control: RunControl) -> Any:
        name = task.spec.target["handler"]
        if registry.find(name) is None:
            raise Snooze(UNKNOWN_HANDLER_DELAY, f"this worker has no handler {name}")
        return run(task, control)

    return run_known
