"""The `executor` Lambda, one per lane: an SQS event source calls it with up to ten messages."""

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

from lambdas import registry, wiring
from lambdas.aws.events import message_of_record
from lambdas.core.delivery import Message
from lambdas.core.errors import Corrupt
from lambdas.core.ports import LaneQueue, Ports
from lambdas.core.times import Millis
from lambdas.executor.batch import BatchLanes
from lambdas.executor.crew import Crew
from lambdas.executor.executor import Executor
from lambdas.executor.messages import Letters
from lambdas.executor.targets import Targets
from lambdas.executor.targets.address_rules import AddressRules, parse_allowed
from lambdas.executor.targets.http import HttpTarget
from lambdas.executor.targets.python import run_handler
from lambdas.task_log import TaskFields

ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
WORTH_OPENING: Millis = 100  # of waiting, in ms; less would not do to open connections
LETTERS: Letters = set()  # known to this sandbox, over all its invocations
EXIT_CODE = 70  # EX_SOFTWARE; Lambda's log shows it as the status of Runtime.ExitError

logger = Logger(service="executor")
copy_config_to_registered_loggers(logger, include={"lambdas"})
for _handler in logger.handlers:
    _handler.addFilter(TaskFields())
if ON_LAMBDA:
    # The handlers' own records become lines like ours, with the ids of their task, instead of
    # those of Lambda's own handler, which has no fields.
    logging.getLogger().handlers[:] = logger.handlers
    logging.getLogger(logger.name).propagate = False
wiring.make_clients(wiring.dynamodb)  # SQS only for what must be sent again: made when needed


@cache
def targets() -> Targets:
    given = wiring.settings()
    if given.handlers:
        registry.load(given.handlers)
    rules = AddressRules(allowed=[parse_allowed(host) for host in given.hosts_allowed])
    return {"python": run_handler, "http": HttpTarget(wiring.adapters().ports.clock, rules)}


@logger.inject_lambda_context
def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Whatever is not named as failed, SQS deletes."""
    ports = wiring.adapters().ports
    until = ports.clock.monotonic() + context.get_remaining_time_in_millis()
    failed: list[str] = []
    messages = list(_messages(event["Records"], failed))
    _open_connections(messages, ports.clock.now())
    failed += execute(ports, targets(), messages, until)
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


def _open_connections(messages: Sequence[Message], now: Millis) -> None:
    """While all of them wait for their time. In a thread: what takes too long must not hold them
    up."""
    early = min((message.delivery.due_at for message in messages), default=now) - now
    if ON_LAMBDA and early >= WORTH_OPENING:
        connections = wiring.adapters().connections
        with suppress(RuntimeError):  # no more threads
            Thread(target=connections.open, args=(len(messages),), daemon=True).start()


def execute(
    ports: Ports, targets: Targets, messages: Sequence[Message], until: Millis
) -> list[str]:
    """Run a batch side by side; returns the ids of the messages that SQS is to keep. Does not
    return if a handler could not be stopped: see `end_sandbox`."""
    lanes = BatchLanes(ports.lanes, {message.lane for message in messages})
    executor = Executor(ports.with_lanes(lanes), targets, LETTERS)
    crew = Crew(executor, ports.clock, len(messages), until=until)
    crew.offer(messages)
    crew.close()
    crew.run()
    if abandoned := crew.abandoned():
        done = [message for message in messages if message.message_id not in lanes.kept]
        end_sandbox(ports.lanes, done, abandoned)
    return lanes.kept


def end_sandbox(lanes: LaneQueue, done: Sequence[Message], abandoned: int) -> NoReturn:
    """End the process, and with it the handlers that could not be stopped: Lambda would freeze
    them, and thaw them beside the next invocation, perhaps hours later.

    It ends at the end of the invocation that gave the handlers up, when all outcomes are
    recorded, and not at the beginning of the next one: the handlers would run again until then,
    and healthy messages would have to be handed back. Lambda reports the invocation as failed, so
    the event source deletes none of its messages: those that are done are deleted here, and
    those that are kept have been handed back with a visibility of their own. A message that
    cannot be deleted comes again after the visibility timeout, with a token that is spent."""
    try:
        lanes.delete(done)
    except Exception:
        logger.exception("messages not deleted", step="execute", count=len(done))
    logger.error("sandbox ended: handlers not stopped", step="execute", handlers=abandoned)
    logging.shutdown()
    sys.stdout.flush()
    os._exit(EXIT_CODE)


def _messages(records: Sequence[Mapping[str, Any]], failed: list[str]) -> Iterator[Message]:
    queues = wiring.settings().queues
    for record in records:
        try:
            yield message_of_record(record, queues)
        except Corrupt as error:
            logger.error("not a delivery: %s", error, message_id=record["messageId"])
            failed.append(record["messageId"])
