"""The HTTP server of the local runner: where it listens, and how it ends."""

import errno
import os
import resource
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from duetime.local.protocol import KEEP_ALIVE, LimitedProtocol
from lambdas.core.errors import DuetimeError
from lambdas.forks import keep_from_children

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LAST_ANSWERS = 5  # seconds that requests under way get when the server ends
MOST_CONNECTIONS = 1_000
DESCRIPTORS = 4_096  # that the process may open, if it is allowed so many


class Server(uvicorn.Server):
    """uvicorn raises the signal again once it is down; here the draining comes after."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        protocol = partial(LimitedProtocol, most_connections=most_connections())
        super().__init__(
            uvicorn.Config(
                app,
                http=protocol,  # type: ignore[arg-type]
                timeout_keep_alive=KEEP_ALIVE,
                log_config=None,  # its records go where ours go
                log_level="warning",
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=LAST_ANSWERS,
            )
        )
        self._listener = listener
        keep_from_children(self)

    def serve_until_told(self) -> None:
        """Until a signal comes, or `should_exit` is set."""
        ForkedSignals().register()
        for number in SIGNALS:
            signal.signal(number, self.handle_exit)
        self.run(sockets=[self._listener])

    def descriptors(self) -> list[int]:
        """Where it listens, and every connection."""
        transports = (getattr(c, "transport", None) for c in list(self.server_state.connections))
        sockets = [t.get_extra_info("socket") for t in transports if t]
        return [s.fileno() for s in (self._listener, *sockets) if s and s.fileno() >= 0]

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class ForkedSignals:
    """A process that a handler forks takes signals as any other does: those that end the runner
    gently would do nothing there. One that comes before that is so waits until it is."""

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
        signal.set_wakeup_fd(-1)  # it would wake the runner's event loop
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._unblock()


def most_connections() -> int:
    """Half of the descriptors that the process may open: the store and the handlers need the
    others. The soft limit is raised first, as far as the hard one allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    may_open = _or_many(soft)
    wanted = min(_or_many(hard), DESCRIPTORS)
    if may_open < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        may_open = wanted
    return min(MOST_CONNECTIONS, may_open // 2)


def _or_many(limit: int) -> int:
    return DESCRIPTORS if limit == resource.RLIM_INFINITY else limit


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, port, family)  # create_server would not tell a bad host apart
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = _blame(error)
        raise DuetimeError(f"cannot listen on {host}:{port}: {reason}") from error


def _blame(error: OSError | UnicodeError) -> str:
    """Whether another host would help, or another port."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return "there is no such host; try another --host"
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; try another --port"
    if error.errno == errno.EACCES:
        return "the port is not for you; try a --port of 1024 or above"
    if error.errno == errno.EADDRNOTAVAIL:
        return "the host is not this machine; try another --host"
    return os.strerror(error.errno or 0)
