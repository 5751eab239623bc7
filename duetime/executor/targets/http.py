"""`http`: a request to a URL; the payload is its JSON body.

Redirects are not followed: the address that was checked is the address that is called.
"""

import email.utils
import json
from datetime import UTC
from time import monotonic
from typing import Any

import urllib3

from lambdas.core.codec import to_json
from lambdas.core.ports import Clock
from lambdas.core.results import DEPTH_LIMIT, is_deeper
from lambdas.core.task import Task
from lambdas.core.times import SECOND, Millis, from_datetime
from lambdas.executor.context import Context
from lambdas.executor.stopping import Stopped
from lambdas.executor.targets import TargetFailed
from lambdas.executor.targets.address_rules import PUBLIC_ONLY, AddressRefused, AddressRules
from lambdas.executor.targets.connections import Call, a_call, checked_pool

Answer = tuple[urllib3.BaseHTTPResponse, bytes]

BODY_LIMIT = 10_000  # bytes of an answer that are kept: six times that, escaped, is a result
WORTH_RETRYING = {408, 425, 429}


class HttpTarget:
    def __init__(self, clock: Clock, rules: AddressRules = PUBLIC_ONLY) -> None:
        self._clock = clock
        self._pool = checked_pool(rules)

    def __call__(self, task: Task, ctx: Context) -> Any:
        try:
            response, body = self._ask(task, ctx)
        except (AddressRefused, urllib3.exceptions.HTTPError) as error:
            if ctx.brake.pulled:
                raise Stopped from None
            raise _failure(task.spec.target["url"], error) from error
        if ctx.brake.pulled:  # what was read may be half of it
            raise Stopped
        return self._judge(response, body)

    def _ask(self, task: Task, ctx: Context) -> Answer:
        """Over a connection of the pool; once more over a new one, if that one was dead. A server
        closes idle connections, and a frozen sandbox does not see it. The request might have
        been handled all the same: its Idempotency-Key tells, and with one Go's net/http and
        others repeat it likewise."""
        deadline = monotonic() + task.spec.timeout
        with a_call() as call, ctx.brake.by(call.break_off):
            try:
                return self._request(task, ctx, call, deadline)
            except (urllib3.exceptions.ProtocolError, urllib3.exceptions.SSLError):
                if not call.found_dead_connection:
                    raise
            call.wants_new = True
            return self._request(task, ctx, call, deadline)

    def _request(self, task: Task, ctx: Context, call: Call, deadline: float) -> Answer:
        payload = task.spec.payload
        response = self._pool.request(
            task.spec.target.get("method", "POST"),
            task.spec.target["url"],
            body=None if payload is None else to_json(payload).encode(),
            headers=_headers(task, ctx),
            timeout=urllib3.Timeout(total=max(deadline - monotonic(), 0.001)),
            redirect=False,
            retries=False,
            preload_content=False,
        )
        return response, _read(response, deadline, call)

    def _judge(self, response: urllib3.BaseHTTPResponse, body: bytes) -> Any:
        status = response.status
        if 200 <= status < 300:
            return {"status": status, "body": _readable(body)}
        raise TargetFailed(
            f"Http{status}",
            f"{status} {response.reason or ''}: {body.decode(errors='replace')}"[:1_000],
            permanent=300 <= status < 500 and status not in WORTH_RETRYING,
            retry_after=self._retry_after(response.headers.get("Retry-After")),
        )

    def _retry_after(self, value: str | None) -> Millis | None:
        """Seconds, or a date; anything else is as if it had not been said."""
        if value is None:
            return None
        try:
            return _wait(value.strip(), self._clock.now())
        except (ValueError, OverflowError):
            return None


def _failure(url: str, error: Exception) -> TargetFailed:
    match error:
        case AddressRefused():
            return TargetFailed("AddressRefused", str(error), permanent=True)
        case urllib3.exceptions.NewConnectionError():
            return TargetFailed("ConnectionFailed", f"{url}: {error.__cause__ or error}")
    return TargetFailed(type(error).__name__, str(error))


def _wait(value: str, now: Millis) -> Millis:
    if value.isdecimal():
        return int(value) * SECOND
    moment = email.utils.parsedate_to_datetime(value)
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now


def _headers(task: Task, ctx: Context) -> urllib3.HTTPHeaderDict:
    """The task's own come before our defaults, however their names are written."""
    headers = urllib3.HTTPHeaderDict({"User-Agent": "duetime"})
    if task.spec.payload is not None:
        headers["Content-Type"] = "application/json"
    for name, value in task.spec.target.get("headers", {}).items():
        headers[name] = value
    headers["Idempotency-Key"] = ctx.idempotency_key
    headers["Duetime-Attempt"] = str(ctx.attempt)
    return headers


def _read(response: urllib3.BaseHTTPResponse, deadline: float, call: Call) -> bytes:
    """The beginning of the body; only a connection read to its end is worth keeping. A socket
    that yields a byte now and then never times out by itself."""
    body = b""
    while len(body) <= BODY_LIMIT and (chunk := response.read1(BODY_LIMIT + 1)):
        body += chunk
        if monotonic() > deadline:
            response.close()
            raise TargetFailed("TimedOut", "the answer did not end in time")
    call.is_over()
    if len(body) > BODY_LIMIT:
        response.close()
    else:
        response.release_conn()
    return body[:BODY_LIMIT]


def _readable(body: bytes) -> Any:
    """JSON if it can be stored as such, else text: an answer must not fail for its form."""
    text = body.decode(errors="replace")
    if is_deeper(text, DEPTH_LIMIT - 1):  # the result around it is a level of its own
        return text
    try:
        value = json.loads(text)
        to_json(value).encode()
    except ValueError:
        return text
    return value
