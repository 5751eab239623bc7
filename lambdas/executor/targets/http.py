"""`http`: a request to a URL; the payload is its JSON body.

Redirects are not followed: the address that was checked is the address that is called.
"""

import email.utils
import ipaddress
import json
import socket
from collections.abc import Callable
from datetime import UTC
from time import monotonic
from typing import Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from lambdas.core.codec import to_json
from lambdas.core.ports import Clock
from lambdas.core.task import Task
from lambdas.core.times import SECOND, Millis, from_datetime
from lambdas.executor.context import Context
from lambdas.executor.targets import TargetFailed

BODY_LIMIT = 10_000  # bytes of an answer that are kept: six times that, escaped, is a result
WORTH_RETRYING = {408, 425, 429}

Admits = Callable[[str], bool]
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def public_only(address: str) -> bool:
    """For a deployment: no private, loopback or metadata address, whatever the name says."""
    ip = _reached_by(address)
    return ip.is_global and not ip.is_multicast


def public_or_loopback(address: str) -> bool:
    """For the local runner, which is mostly asked to call a neighbour."""
    return public_only(address) or _reached_by(address).is_loopback


def _reached_by(address: str) -> IPAddress:
    """Some IPv6 addresses only lead to an IPv4 one; then that one counts."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip


class HttpTarget:
    def __init__(self, clock: Clock, admits: Admits = public_only) -> None:
        self._clock = clock
        self._pool = _pool(admits)

    def __call__(self, task: Task, ctx: Context) -> Any:
        target = task.spec.target
        deadline = monotonic() + task.spec.timeout
        try:
            response = self._pool.request(
                target.get("method", "POST"),
                target["url"],
                body=None if task.spec.payload is None else to_json(task.spec.payload).encode(),
                headers=_headers(task, ctx),
                timeout=urllib3.Timeout(total=task.spec.timeout),
                redirect=False,
                retries=False,
                preload_content=False,
            )
            body = _read(response, deadline)
        except AddressRefused as error:
            raise TargetFailed("AddressRefused", str(error), permanent=True) from None
        except urllib3.exceptions.NewConnectionError as error:
            reason = error.__cause__ or error
            raise TargetFailed("ConnectionFailed", f"{target['url']}: {reason}") from error
        except urllib3.exceptions.HTTPError as error:
            raise TargetFailed(type(error).__name__, str(error)) from error
        return self._judge(response, body)

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


def _wait(value: str, now: Millis) -> Millis:
    if value.isdecimal():
        return int(value) * SECOND
    moment = email.utils.parsedate_to_datetime(value)
    return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now


class AddressRefused(Exception):
    def __init__(self, host: str, address: str) -> None:
        where = "" if host == address else f"{host} is at "
        super().__init__(f"{where}{address}, which this executor does not call")


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


def _read(response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
    """The beginning of the body; only a connection read to its end is worth keeping. A socket
    that yields a byte now and then never times out by itself."""
    body = b""
    while len(body) <= BODY_LIMIT and (chunk := response.read1(BODY_LIMIT + 1)):
        body += chunk
        if monotonic() > deadline:
            response.close()
            raise TargetFailed("TimedOut", "the answer did not end in time")
    if len(body) > BODY_LIMIT:
        response.close()
    else:
        response.release_conn()
    return body[:BODY_LIMIT]


def _readable(body: bytes) -> Any:
    """JSON if it can be stored as such, else text: an answer must not fail for its form."""
    text = body.decode(errors="replace")
    try:
        value = json.loads(text)
        to_json(value).encode()
    except (ValueError, RecursionError):
        return text
    return value


def _pool(admits: Admits) -> urllib3.PoolManager:
    """A pool whose connections check the address that they are about to talk to: before, so
    that not even a connection tells of a private network, and again once connected, so that a
    name has no time to change its mind."""

    class CheckedHttp(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            _check_name(self.host, self.port, admits)
            return _checked(super()._new_conn(), self.host, admits)

    class CheckedHttps(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            _check_name(self.host, self.port, admits)
            return _checked(super()._new_conn(), self.host, admits)

    class HttpPool(urllib3.HTTPConnectionPool):
        ConnectionCls = CheckedHttp

    class HttpsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = CheckedHttps

    pools = urllib3.PoolManager(num_pools=100, maxsize=64)
    pools.pool_classes_by_scheme = {"http": HttpPool, "https": HttpsPool}
    return pools


def _check_name(host: str, port: int | None, admits: Admits) -> None:
    name = host.strip("[]")
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError:
        return  # connecting fails as well, and says why
    for *_, (address, *_) in found:
        if not admits(str(address)):
            raise AddressRefused(host, str(address))


def _checked(connection: socket.socket, host: str, admits: Admits) -> socket.socket:
    address = connection.getpeername()[0]
    if not admits(address):
        connection.close()
        raise AddressRefused(host, address)
    return connection
