"""The connections of a world's `http` target: there are none, the routes answer."""

from http import HTTPStatus
from io import BytesIO
from typing import Any

import urllib3
from urllib3.exceptions import NewConnectionError, ProtocolError, ReadTimeoutError

from duetime.executor.targets import TargetFailed
from duetime.executor.targets.connections import current_call
from duetime.testing.errors import UndeclaredRequest
from duetime.testing.http_routes import HttpCall, HttpRoutes, Reply
from duetime.testing.problems import Problems


class RoutedPool:
    """Takes the place of a urllib3 pool."""

    def __init__(self, routes: HttpRoutes, problems: Problems) -> None:
        self._routes = routes
        self._problems = problems

    def request(self, method: str, url: str, **options: Any) -> urllib3.BaseHTTPResponse:
        route = self._routes.find(method, url)
        if route is None:
            message = self._routes.undeclared(method, url)
            self._problems.add(UndeclaredRequest(message))
            raise TargetFailed("UndeclaredRequest", message, permanent=True)
        current_call().opened()  # each request has a new connection, so none was found dead
        headers = {name.lower(): text for name, text in options["headers"].items()}
        body = options["body"] or b""
        answer = route.answer(HttpCall(method=method, url=url, headers=headers, body=body))
        if isinstance(answer, Reply):
            return _response(answer)
        raise _as_of_a_connection(answer, url)


def _response(reply: Reply) -> urllib3.BaseHTTPResponse:
    headers = {} if reply.json is None else {"content-type": "application/json"}
    try:
        reason = HTTPStatus(reply.status).phrase
    except ValueError:
        reason = ""
    return urllib3.HTTPResponse(
        body=BytesIO(reply.body()),
        status=reply.status,
        reason=reason,
        headers={**headers, **reply.headers},
        preload_content=False,
    )


def _as_of_a_connection(error: BaseException, url: str) -> BaseException:
    """Returns the error that urllib3 raises where the socket raises this one."""
    match error:
        case TimeoutError():
            pool: Any = None
            return ReadTimeoutError(pool, url, str(error) or "Read timed out.")
        case ConnectionRefusedError():
            connection: Any = None
            return NewConnectionError(connection, str(error) or "Connection refused")
        case ConnectionError():
            return ProtocolError("Connection aborted.", error)
    return error
