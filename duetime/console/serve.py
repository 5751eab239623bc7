"""Runs the proxy of `duetime console` until Ctrl-C."""

import secrets
from collections.abc import Callable

from duetime.client.transport import Server as Upstream
from duetime.console.files import ConsoleFiles
from duetime.console.proxy import Proxy
from duetime.local.server import Server, listen
from duetime.local.sessions import Sessions

HOST = "127.0.0.1"
TOKEN_BYTES = 16


def serve(
    upstream: Upstream,
    *,
    port: int,
    write: bool,
    announce: Callable[[str], None],
) -> None:
    """Serves the console for an API elsewhere. `announce` gets the link that signs a browser in; it
    is valid until this process ends."""
    listener = listen(HOST, port)
    bound = listener.getsockname()[1]
    token = secrets.token_urlsafe(TOKEN_BYTES)
    sessions = Sessions(token=token, port=bound, read_only=not write)
    announce(f"http://{HOST}:{bound}/#t={token}")
    Server(Proxy(upstream, sessions, ConsoleFiles()), listener).serve_until_stopped()
