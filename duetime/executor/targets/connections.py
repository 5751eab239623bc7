"""The connections of the http target: they check the address that they are about to talk to, a
call over one can be broken off from another thread, and a call knows whether the connection that
it was given was dead."""

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

from lambdas.executor.targets.address_rules import AddressRules, check_name, check_peer

C = TypeVar("C", bound=HTTPConnection)

_this_thread = local()
_context_lock = Lock()
_context: ssl.SSLContext | None = None


class Call:
    """One request of this thread, from its first byte to its last."""

    def __init__(self) -> None:
        self._connection: HTTPConnection | None = None
        self._broken_off = False
        self._turn = Lock()
        self.wants_new = False  # connection, whatever the pool holds
        self._opened = False  # a connection of its own
        self._answered = False  # if only with a byte

    @property
    def found_dead_connection(self) -> bool:
        """Whether it failed on a connection that an earlier call had left, without a byte of an
        answer: most likely the other side had closed it long before."""
        return not self._opened and not self._answered and not self._broken_off

    def opened(self) -> None:
        self._opened = True

    def answered(self) -> None:
        self._answered = True

    def break_off(self) -> None:
        """From another thread: whoever waits for the socket learns that nothing more comes."""
        with self._turn:
            self._broken_off = True
            sock = None if self._connection is None else self._connection.sock
            if sock is not None:
                with suppress(OSError):  # it has just ended by itself
                    sock.shutdown(socket.SHUT_RDWR)

    def is_over(self) -> None:
        """The connection goes back to the pool, and may serve another call at once."""
        with self._turn:
            self._connection = None

    def uses(self, connection: HTTPConnection) -> None:
        with self._turn:
            self._connection = connection
        if self._broken_off:  # before there was a connection to break
            raise urllib3.exceptions.ProtocolError("broken off")


@contextmanager
def a_call() -> Iterator[Call]:
    call = _this_thread.call = Call()
    try:
        yield call
    finally:
        _this_thread.call = None


def _the_call() -> Call:
    """Of this thread."""
    call: Call | None = getattr(_this_thread, "call", None)
    return call or Call()


def shared_ssl_context() -> ssl.SSLContext:
    """One for all connections, made when the first needs it. It loads the system's list of
    certificate authorities, 20 to 30 ms of a whole CPU; urllib3 alone would load it for every
    connection, and ten threads without a lock ten times."""
    global _context  # noqa: PLW0603
    with _context_lock:
        if _context is None:
            context = create_urllib3_context(cert_reqs=ssl.CERT_REQUIRED)
            context.load_default_certs()
            _context = context
        return _context


def checked_pool(rules: AddressRules) -> urllib3.PoolManager:
    class HttpPool(urllib3.HTTPConnectionPool):
        ConnectionCls = _checked(HTTPConnection, rules)

    class HttpsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = _checked(HTTPSConnection, rules)

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, ssl_context=shared_ssl_context(), **options)

    pools = urllib3.PoolManager(num_pools=100, maxsize=64)
    pools.pool_classes_by_scheme = {"http": HttpPool, "https": HttpsPool}
    return pools


def _checked(kind: type[C], rules: AddressRules) -> type[C]:
    """The address is checked before connecting, so that not even a connection tells of a private
    network, and again once connected, so that a name has no time to change its mind."""

    class Checked(kind):  # type: ignore[valid-type, misc]
        response_class = _Response

        @property
        def is_connected(self) -> bool:
            """The pool opens a connection anew that is not."""
            return super().is_connected and not _the_call().wants_new

        def _new_conn(self) -> socket.socket:
            check_name(self.host, self.port, rules)
            return check_peer(super()._new_conn(), self.host, rules)

        def connect(self) -> None:
            _the_call().opened()
            super().connect()
            _the_call().uses(self)

        def request(self, *args: Any, **options: Any) -> None:
            _the_call().uses(self)
            super().request(*args, **options)

    return Checked


class _Response(HTTPResponse):
    """Tells the call of the first byte of an answer."""

    def begin(self) -> None:
        if not self.fp.peek(1):
            raise RemoteDisconnected("Remote end closed connection without response")
        _the_call().answered()
        super().begin()
