"""Requests that the API of a world answers without a server."""

from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import parse_qsl

import httpx

from duetime.api.app import Api
from duetime.api.http import Request, Response, query_values
from duetime.extras import NotInstalled


def call_api(
    api: Api, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> Response:
    """Returns the answer to a request. `target` is the path with its query."""
    path, _, query = target.partition("?")
    return api.call(
        Request(
            method=method,
            path=path,
            query=query_values(parse_qsl(query, keep_blank_values=True)),
            headers={name.lower(): text for name, text in headers.items()},
            body=body,
        )
    )


def in_process(api: Api) -> httpx.MockTransport:
    """Returns a transport that passes every request of an httpx client to the API."""

    def answer(request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode("ascii")
        answered = call_api(api, request.method, target, request.headers, request.content)
        if answered.status == 500 and target.startswith("/v1/schedules"):
            _check_cron_is_installed()
        content = answered.encoded()
        return httpx.Response(answered.status, headers=dict(answered.headers), content=content)

    return httpx.MockTransport(answer)


def _check_cron_is_installed() -> None:
    try:
        missing = find_spec("croniter") is None
    except ValueError:  # of a test that removes it
        missing = True
    if missing:
        raise NotInstalled("What cron schedules need in tests", "testing")
