"""The `executor` function, one per lane: SQS invokes it with up to ten messages."""

import logging
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import Any, NoReturn

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers

from duetime import tracing
from duetime.aws import backend
from duetime.aws.event_records import message_of_record
from duetime.core.delivery import Message
from duetime.core.errors import Corrupt
from duetime.core.ports import LaneQueue, Ports
from duetime.core.times import Millis
from duetime.engine.quota_setting import quota_gate
from duetime.executor.batch_lanes import BatchLanes
from duetime.executor.children import ChildSubmission
from duetime.executor.executor import Executor
from duetime.executor.message_acks import DeadLetterIds
from duetime.executor.targets import Targets
from duetime.executor.targets.deployed import deployed_targets
from duetime.executor.targets.python import run_handler
from duetime.executor.worker_pool import WorkerPool
from duetime.handlers import registry
from duetime.logs.task_context import TaskFields

ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
MIN_OPENING_TIME: Millis = 100  # of waiting; opening connections takes longer than less
DEAD_LETTER_IDS: DeadLetterIds = set()  # kept over all invocations of this sandbox
EXIT_CODE = 70  # EX_SOFTWARE; Lambda's log shows it as the status of Runtime.ExitError

logger = Logger(service="executor")
copy_config_to_registered_loggers(logger, include={"duetime"})
for _handler in logger.handlers:
    _handler.addFilter(TaskFields())
if ON_LAMBDA:
    # Log records of handlers get our format with the ids of their task, instead of the format of
    # Lambda's own log handler, which drops fields.
    logging.getLogger().handlers[:] = logger.handlers
    logging.getLogger(logger.name).propagate = False
backend.make_clients(backend.dynamodb)  # the SQS client is made when a task is retried


@cache
def targets() -> Targets:
    given = backend.settings()
    if given.handlers:
        registry.load(given.handlers)
    tracing.start("duetime-executor")  # after the handlers, which may set a tracer provider
    return deployed_targets(
        run_handler,
        backend.adapters().ports.clock,
        secrets=backend.secrets(),
        services=backend.services,
        hosts_allowed=given.hosts_allowed,
        databases=given.databases,
    )


@cache
def children() -> ChildSubmission:
    given = backend.settings()
    quotas = quota_gate(given.quotas, backend.quota_store)
    return ChildSubmission(quotas=quotas, longest_timeout=given.longest_timeout)


@logger.inject_lambda_context
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """SQS deletes every message that the answer does not name as failed."""
    ports = backend.adapters().ports
    until = ports.clock.monotonic() + context.get_remaining_time_in_millis()
    failed: list[str] = []
    messages = list(_messages(event["Records"], failed))
    _open_connections(messages, ports.clock.now())
    failed += execute_batch(ports, targets(), messages, until)
    tracing.flush()
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _open_connections(messages: Sequence[Message], now: Millis) -> None:
    """Open connections while all messages wait for their due time. In a thread, so that a slow
    connection does not delay them."""
    early = min((message.delivery.visible_at for message in messages), default=now) - now
    if ON_LAMBDA and early >= MIN_OPENING_TIME:
        connections = backend.adapters().connections
        with suppress(RuntimeError):  # no more threads
            Thread(target=connections.open, args=(len(messages),), daemon=True).start()


def execute_batch(
    ports: Ports, targets: Targets, messages: Sequence[Message], until: Millis
) -> list[str]:
    """Execute the messages in parallel. Returns the ids of those that SQS must keep. Does not
    return if a handler could not be stopped: see `end_sandbox`."""
    lanes = BatchLanes(ports.lanes)
    executor = Executor(
        ports.with_lanes(lanes),
        targets,
        DEAD_LETTER_IDS,
        children(),
        callback_url=backend.settings().callback_url or None,
    )
    pool = WorkerPool(executor, ports.clock, len(messages), until=until)
    pool.offer(messages)
    pool.close()
    pool.run()
    if abandoned := pool.abandoned():
        done = [message for message in messages if message.message_id not in lanes.kept]
        end_sandbox(ports.lanes, done, abandoned)
    return lanes.kept


def end_sandbox(lanes: LaneQueue, done: Sequence[Message], abandoned: int) -> NoReturn:
    """End the process together with the handlers that could not be stopped. Otherwise Lambda would
    freeze them, and thaw them beside the next invocation, perhaps hours later.

    The process ends in the invocation that abandoned the handlers, when all outcomes are recorded,
    and not at the start of the next one: until then the handlers would run again, and healthy
    messages would have to be handed back. Lambda reports the invocation as failed, so the event
    source deletes none of its messages. Finished messages are deleted here, and kept messages have
    already been handed back with a visibility of their own. A message that cannot be deleted is
    delivered again after the visibility timeout, with a spent token."""
    try:
        lanes.delete(done)
    except Exception:
        logger.exception("messages not deleted", step="execute", count=len(done))
    logger.error("sandbox ended: handlers not stopped", step="execute", handlers=abandoned)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(EXIT_CODE)


def _messages(records: Sequence[Mapping[str, Any]], failed: list[str]) -> Iterator[Message]:
    queues = backend.settings().queue_urls
    for record in records:
        try:
            yield message_of_record(record, queues)
        except Corrupt as error:
            message_id = record["messageId"]
            logger.error(
                "message skipped: unreadable: %s", error, step="lease", message_id=message_id
            )
            failed.append(record["messageId"])
