"""The HTTP server of the local runner: its socket, its signals and its shutdown."""

import errno
import os
import resource
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from duetime.core.errors import DuetimeError
from duetime.forks import keep_from_children
from duetime.local.http_protocol import KEEP_ALIVE, LimitedProtocol
from duetime.local.websocket_protocol import MAX_MESSAGE, LimitedWebSocket

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHUTDOWN_TIMEOUT = 5  # seconds that current requests have when the server stops
MAX_CONNECTIONS = 1_000
MAX_DESCRIPTORS = 4_096  # that the process opens, if the hard limit allows it


class Server(uvicorn.Server):
    """Stops on a signal without raising it again, as uvicorn does: the runner drains afterwards.
    `on_shutdown` is awaited when it stops, before it waits for requests."""

    def __init__(
        self,
        app: ASGIApp,
        *listeners: socket.socket,
        on_shutdown: Callable[[], Awaitable[object]] | None = None,
    ) -> None:
        protocol = partial(LimitedProtocol, max_connections=max_connections())
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol,  # type: ignore[arg-type]
                ws=LimitedWebSocket,
                ws_max_size=MAX_MESSAGE,
                ws_per_message_deflate=False,
                timeout_keep_alive=KEEP_ALIVE,
                log_config=None,  # its records go to our handlers
                log_level="warning",
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=SHUTDOWN_TIMEOUT,
            )
        )
        self._listeners = listeners
        self._on_shutdown = on_shutdown
        keep_from_children(self)

    def serve_until_stopped(self) -> None:
        """Serve until a signal arrives or `should_exit` is set."""
        ForkedSignals().register()
        for number in SIGNALS:
            signal.signal(number, self.handle_exit)
        self.run(sockets=list(self._listeners))

    def descriptors(self) -> list[int]:
        """Returns the descriptors of the listening sockets and of every connection."""
        transports = (getattr(c, "transport", None) for c in list(self.server_state.connections))
        sockets = [t.get_extra_info("socket") for t in transports if t]
        return [s.fileno() for s in (*self._listeners, *sockets) if s and s.fileno() >= 0]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._on_shutdown:
            await self._on_shutdown()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class ForkedSignals:
    """Restores the default signal handling in a process that a handler forks: the runner's own
    handlers would do nothing there. A signal that arrives before that stays blocked until then."""

    def __init__(self) -> None:
        self._before = threading.local()

    def register(self) -> None:
        os.register_at_fork(
            before=self._block, after_in_parent=self._unblock, after_in_child=self._in_child
        )

    def _block(self) -> None:
        self._before.mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)

    def _unblock(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before.mask)

    def _in_child(self) -> None:
        signal.set_wakeup_fd(-1)  # a signal would wake the runner's event loop
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._unblock()


def max_connections() -> int:
    """Returns half of the descriptors that the process may open: the store and the handlers need
    the others. Raises the soft limit first, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    may_open = _or_many(soft)
    wanted = min(_or_many(hard), MAX_DESCRIPTORS)
    if may_open < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        may_open = wanted
    return min(MAX_CONNECTIONS, may_open // 2)


def _or_many(limit: int) -> int:
    return MAX_DESCRIPTORS if limit == resource.RLIM_INFINITY else limit


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, port, family)  # create_server reports a bad host like other errors
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = _listen_problem(error)
        raise DuetimeError(f"cannot listen on {host}:{port}: {reason}") from error


def _listen_problem(error: OSError | UnicodeError) -> str:
    """Returns the problem, and whether another host or another port would help."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return "there is no such host; try another --host"
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; try another --port"
    if error.errno == errno.EACCES:
        return "no permission for this port; try a --port of 1024 or above"
    if error.errno == errno.EADDRNOTAVAIL:
        return "the host is not this machine; try another --host"
    return os.strerror(error.errno or 0)


def url_of(listener: socket.socket) -> str:
    """Returns where callbacks of this machine reach the API. A server that listens on all addresses
    listens on the loopback, too."""
    host, port = listener.getsockname()[:2]
    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{loopback}]:{port}" if ":" in loopback else f"http://{loopback}:{port}"
