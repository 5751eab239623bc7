"""A port of its own for scrapers (`--metrics-port`): it has `GET /metrics` and nothing else."""

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from duetime.api.http import not_found
from duetime.local.asgi import as_asgi
from duetime.local.prometheus.page import PATH


def only_metrics_on(port: int, app: ASGIApp) -> ASGIApp:
    """Returns the application, of which this port has the metrics only."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["server"][1] != port or scope["path"] == PATH:
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
        else:
            missing = not_found(f"{scope['path']} on the port for metrics")
            await as_asgi(missing.response())(scope, receive, send)

    return limited
