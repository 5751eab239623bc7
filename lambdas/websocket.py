"""The `websocket` function: live updates. API Gateway invokes it for each step of a connection,
first as the authorizer of `$connect`, and the relay with changes to push."""

import json
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.utils import copy_config_to_registered_loggers

from duetime.aws import backend
from duetime.core.live.pushes import push_of_event
from duetime.core.live.tickets import Ticket
from duetime.core.times import SECOND, Millis
from duetime.websocket.connections import Connections
from duetime.websocket.pushing import Pushing

RESERVE: Millis = 5 * SECOND  # of the function's time, for the posts under way

Answer = dict[str, Any]

logger = Logger(service="websocket")
copy_config_to_registered_loggers(logger, include={"duetime"})
backend.make_clients(backend.dynamodb, backend.connection_posts)


@cache
def connections() -> Connections:
    origins = backend.settings().live_origins
    return Connections(
        backend.live_store(),
        backend.live_store(),
        backend.connection_posts(),
        backend.clock(),
        frozenset(origins.split(",")) if origins else frozenset(),
    )


@cache
def pushing() -> Pushing:
    return Pushing(
        backend.live_store(),
        backend.connection_posts(),
        backend.clock(),
        backend.post_calls().each,
        time.sleep,
    )


@logger.inject_lambda_context
def handle(event: Mapping[str, Any], context: Any) -> Answer:
    if "push" in event:
        left = context.get_remaining_time_in_millis()
        until = backend.clock().now() + max(left - RESERVE, 0)
        pushing().push(push_of_event(event), until)
        return {}
    if event.get("type") == "REQUEST":
        return _authorize(event)
    return {"statusCode": _step(event)}


def _authorize(event: Mapping[str, Any]) -> Answer:
    ticket = (event.get("queryStringParameters") or {}).get("ticket", "")
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    taken = connections().authorize(ticket, headers.get("origin"))
    statement = {
        "Action": "execute-api:Invoke",
        "Effect": "Allow" if taken else "Deny",
        "Resource": event["methodArn"],
    }
    return {
        "principalId": (taken and taken.actor) or "unknown",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": _context(taken) if taken else {},
    }


def _context(ticket: Ticket) -> dict[str, str]:
    """What `$connect` gets of the ticket: API Gateway passes texts on, and no lists."""
    caller = {} if ticket.actor is None else {"actor": ticket.actor}
    if ticket.namespaces is not None:
        caller["namespaces"] = json.dumps(sorted(ticket.namespaces))
    return caller


def _step(event: Mapping[str, Any]) -> int:
    """A client may name any route in a frame, so what happens is read from the type of the
    event, which API Gateway sets."""
    request = event["requestContext"]
    id = request["connectionId"]
    match request["eventType"]:
        case "CONNECT":
            return 200 if _connect(id, request.get("authorizer") or {}) else 429
        case "DISCONNECT":
            connections().disconnect(id)
        case _:
            connections().receive(id, event.get("body") or "")
    return 200


def _connect(id: str, caller: Mapping[str, Any]) -> bool:
    named = caller.get("namespaces")
    namespaces = None if named is None else frozenset(json.loads(named))
    return connections().connect(id, caller.get("actor"), namespaces)
