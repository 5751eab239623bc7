"""The connections of the http target: they check the address that they are about to talk to, and
a call over one can be broken off from another thread."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, local
from typing import Any, TypeVar

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from lambdas.executor.targets.address_rules import AddressRules, check_name, check_peer

C = TypeVar("C", bound=HTTPConnection)

_this_thread = local()


class Call:
    """One request of this thread, from its first byte to its last."""

    def __init__(self) -> None:
        self._connection: HTTPConnection | None = None
        self._broken_off = False
        self._turn = Lock()

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


def _used(connection: HTTPConnection) -> None:
    call: Call | None = getattr(_this_thread, "call", None)
    if call is not None:
        call.uses(connection)


def checked_pool(rules: AddressRules) -> urllib3.PoolManager:
    class HttpPool(urllib3.HTTPConnectionPool):
        ConnectionCls = _checked(HTTPConnection, rules)

    class HttpsPool(urllib3.HTTPSConnectionPool):
        ConnectionCls = _checked(HTTPSConnection, rules)

    pools = urllib3.PoolManager(num_pools=100, maxsize=64)
    pools.pool_classes_by_scheme = {"http": HttpPool, "https": HttpsPool}
    return pools


def _checked(kind: type[C], rules: AddressRules) -> type[C]:
    """The address is checked before connecting, so that not even a connection tells of a private
    network, and again once connected, so that a name has no time to change its mind."""

    class Checked(kind):  # type: ignore[valid-type, misc]
        def _new_conn(self) -> socket.socket:
            check_name(self.host, self.port, rules)
            return check_peer(super()._new_conn(), self.host, rules)

        def connect(self) -> None:
            super().connect()
            _used(self)

        def request(self, *args: Any, **options: Any) -> None:
            _used(self)
            super().request(*args, **options)

    return Checked
