"""The connections of the `http` target.

They check the address before they talk to it. Another thread can break off a call, and a call
knows whether the connection that it got from the pool was dead."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPResponse, RemoteDisconnected
from threading import Lock, local
from typing import Any, TypeVar

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util.ssl_ import create_urllib3_context

from duetime.executor.targets.address_policy import AddressPolicy, check_name, check_peer

C = TypeVar("C", bound=HTTPConnection)

_this_thread = local()
_context_lock = Lock()
_context: ssl.SSLContext | None = None


class Call:
    """One request of a thread, from its first byte to its last."""

    def __init__(self) -> None:
        self._connection: HTTPConnection | None = None
        self._broken_off = False
        self._lock = Lock()
        self.wants_new = False  # do not reuse a connection of the pool
        self._opened = False  # on a new connection
        self._answered = False  # at least one byte came back

    @property
    def found_dead_connection(self) -> bool:
        """Whether the call failed on a reused connection without a byte of an answer. Most likely
        the server had closed that connection long before."""
        return not self._opened and not self._answered and not self._broken_off

    def opened(self) -> None:
        self._opened = True

    def answered(self) -> None:
        self._answered = True

    def break_off(self) -> None:
        """Shut the socket down, from another thread. The thread that waits for it then fails."""
        with self._lock:
            self._broken_off = True
            sock = None if self._connection is None else self._connection.sock
            if sock is not None:
                with suppress(OSError):  # the call has just ended by itself
                    sock.shutdown(socket.SHUT_RDWR)

    def release_connection(self) -> None:
        """Call this before the connection goes back to the pool, where another call may use it
        at once."""
        with self._lock:
            self._connection = None

    def use(self, connection: HTTPConnection) -> None:
        with self._lock:
            self._connection = connection
        if self._broken_off:  # before there was a connection
            raise urllib3.exceptions.ProtocolError("broken off")


@contextmanager
def open_call() -> Iterator[Call]:
    call = _this_thread.call = Call()
    try:
        yield call
    finally:
        _this_thread.call = None


def current_call() -> Call:
    """Returns the call of this thread."""
    call: Call | None = getattr(_this_thread, "call", None)
    return call or Call()


def shared_ssl_context() -> ssl.SSLContext:
    """Returns one context for all connections, made for the first. Loading the system's
    certificate authorities takes 20 to 30 ms of a whole CPU; urllib3 by itself loads them for
    every connection, and without a lock ten threads load them ten times."""
    global _context  # noqa: PLW0603
    with _context_lock:
        if _context is None:
            context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
            context.load_default_certs()
            _context = context
        return _context


def checked_pool(policy: AddressPolicy) -> urllib3.PoolManager:
    class HttpPool(urllib3.HTTPConnectionPool):
        ConnectionCls = _checked(HTTPConnection, policy)

    class HttpsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = _checked(HTTPSConnection, policy)

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, ssl_context=shared_ssl_context(), **options)

    pools = urllib3.PoolManager(num_pools=100, maxsize=64)
    pools.pool_classes_by_scheme = {"http": HttpPool, "https": HttpsPool}
    return pools


def _checked(kind: type[C], policy: AddressPolicy) -> type[C]:
    """Checks the address before it connects, so that not even a connection attempt reveals a
    private network, and again once connected, because the name may resolve differently by then."""

    class Checked(kind):  # type: ignore[valid-type, misc]
        response_class = _Response

        @property
        def is_connected(self) -> bool:
            """The pool reopens a connection that is not connected."""
            return super().is_connected and not current_call().wants_new

        def _new_conn(self) -> socket.socket:
            check_name(self.host, self.port, policy)
            return check_peer(super()._new_conn(), self.host, policy)

        def connect(self) -> None:
            current_call().opened()
            super().connect()
            current_call().use(self)

        def request(self, *args: Any, **options: Any) -> None:
            current_call().use(self)
            super().request(*args, **options)

    return Checked


class _Response(HTTPResponse):
    """Marks the call as answered at the first byte."""

    def begin(self) -> None:
        if not self.fp.peek(1):
            raise RemoteDisconnected("Remote end closed connection without response")
        current_call().answered()
        super().begin()
