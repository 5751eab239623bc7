"""The `http` target: sends a request to a URL, with the payload as its JSON body.

It follows no redirects: the address that was checked is the address that is called.
"""

import email.utils
import json
from datetime import UTC
from time import monotonic
from typing import Any, Protocol

import urllib3

from duetime import tracing
from duetime.core.codec import to_json
from duetime.core.errors import Stopped
from duetime.core.ports import Clock
from duetime.core.results import DEPTH_LIMIT, is_deeper
from duetime.core.secrets import SecretStore
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis, from_datetime
from duetime.executor.run_control import RunControl
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.address_policy import PUBLIC_ONLY, AddressPolicy, AddressRefused
from duetime.executor.targets.connections import Call, checked_pool, open_call
from duetime.executor.targets.http_request import HttpRequest, request_of

Answer = tuple[urllib3.BaseHTTPResponse, bytes]

BODY_LIMIT = 10_000  # bytes of an answer that are kept; escaped, up to six times as many
WORTH_RETRYING = {408, 425, 429}


class Pool(Protocol):
    """What sends requests: connections of urllib3, or the routes of a test."""

    def request(self, method: str, url: str, **options: Any) -> urllib3.BaseHTTPResponse: ...


class HttpTarget:
    """`policy` says which addresses it may call; a `pool` that is given has a policy of its own."""

    def __init__(
        self,
        clock: Clock,
        policy: AddressPolicy = PUBLIC_ONLY,
        secrets: SecretStore | None = None,
        pool: Pool | None = None,
    ) -> None:
        self._clock = clock
        self._pool: Pool = pool or checked_pool(policy)
        self._secrets = secrets

    def __call__(self, task: Task, control: RunControl) -> Any:
        deadline = monotonic() + task.spec.timeout
        request = request_of(task, control.context, self._secrets, self._clock.now())
        if request.secrets is None:
            return self._run(request, control, deadline)
        return request.secrets.masked(lambda: self._run(request, control, deadline))

    def _run(self, request: HttpRequest, control: RunControl, deadline: float) -> Any:
        try:
            response, body = self._call(request, control, deadline)
        except (AddressRefused, urllib3.exceptions.HTTPError) as error:
            if control.interrupt.triggered:
                raise Stopped from None
            raise _failure(request.url, error) from error
        if control.interrupt.triggered:  # the body may be incomplete
            raise Stopped
        return self._judge(response, body)

    def _call(self, request: HttpRequest, control: RunControl, deadline: float) -> Answer:
        """Send the request over a connection of the pool, and once more over a new connection if
        that one was dead: a server closes idle connections, and a frozen sandbox does not notice.
        The server may have handled the first request all the same, and recognises the second by
        its Idempotency-Key. With such a key Go's net/http and others repeat a request, too."""
        with open_call() as call, control.interrupt.stopping_with(call.break_off):
            try:
                return self._send(request, call, deadline)
            except (urllib3.exceptions.ProtocolError, urllib3.exceptions.SSLError):
                if not call.found_dead_connection:
                    raise
            call.wants_new = True
            return self._send(request, call, deadline)

    def _send(self, request: HttpRequest, call: Call, deadline: float) -> Answer:
        spans = tracing.spans()
        if spans is None:
            return self._request(request, call, deadline)
        with spans.request(request.method, request.headers) as span:
            response, body = self._request(request, call, deadline)
            span.answered(response.status)
            return response, body

    def _request(self, request: HttpRequest, call: Call, deadline: float) -> Answer:
        response = self._pool.request(
            request.method,
            request.url,
            body=request.body,
            headers=request.headers,
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
        """Parse seconds or a date. Anything else counts as no header."""
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


def _read(response: urllib3.BaseHTTPResponse, deadline: float, call: Call) -> bytes:
    """Read the beginning of the body. Only a connection that was read to its end goes back to
    the pool. A socket that yields a byte now and then never times out by itself, so the deadline
    is checked here."""
    body = b""
    while len(body) <= BODY_LIMIT and (chunk := response.read1(BODY_LIMIT + 1)):
        body += chunk
        if monotonic() > deadline:
            response.close()
            raise TargetFailed("TimedOut", "the answer did not end in time")
    call.release_connection()
    if len(body) > BODY_LIMIT:
        response.close()
    else:
        response.release_conn()
    return body[:BODY_LIMIT]


def _readable(body: bytes) -> Any:
    """Decode JSON that can be stored, else return text: the form of an answer fails no task."""
    text = body.decode(errors="replace")
    if is_deeper(text, DEPTH_LIMIT - 1):  # the result around it adds a level
        return text
    try:
        value = json.loads(text)
        to_json(value).encode()
    except ValueError:
        return text
    return value
