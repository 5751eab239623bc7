"""One request, one answer, or one error that says what to do."""

import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from duetime.client.errors import ApiError, BadAddress, FieldError, Unreachable

DEFAULT_URL = "http://127.0.0.1:8080"
PAGE = 100  # the longest page, and the largest batch, that the contract allows
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class Wire:
    def __init__(
        self, url: str | None, timeout: float, transport: httpx.BaseTransport | None
    ) -> None:
        address = _address(url or os.environ.get("DUETIME_URL") or DEFAULT_URL)
        self.url = str(address)
        self._timeout = timeout
        # A proxy from the environment cannot know our loopback.
        trust_env = address.host not in LOOPBACK
        self._http = httpx.Client(
            base_url=address,
            headers={"content-type": "application/json"},
            timeout=timeout,
            transport=transport,
            trust_env=trust_env,
        )

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """The JSON of a successful answer."""
        return self.answer(method, path, query=query, body=body)[1]

    def answer(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> tuple[int, Any]:
        """The status and the JSON of a successful answer."""
        params = {key: value for key, value in (query or {}).items() if value is not None}
        # ASCII: half a surrogate pair reaches the API, which can say which field holds it.
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        response = self._send(method, path, params=params, content=content)
        return response.status_code, self._read(response)

    def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            return self._http.request(method, path, **request)
        except httpx.ConnectTimeout as reason:
            raise Unreachable(self.url) from reason
        except httpx.TimeoutException as reason:
            what = f"No answer within {self._timeout:g} s"
            raise Unreachable(
                self.url, what, "look how Duetime is doing, then try again"
            ) from reason
        except httpx.TransportError as reason:
            raise Unreachable(self.url) from reason

    def _read(self, response: httpx.Response) -> Any:
        if not response.is_success:
            raise _problem(response)
        try:
            return response.json()
        except ValueError as reason:
            what = "Somebody who is not Duetime answers"
            raise Unreachable(self.url, what, "check DUETIME_URL") from reason

    def close(self) -> None:
        self._http.close()


def task_path(task_id: str) -> str:
    """An id comes from a command line: it must not reach another path."""
    return f"/v1/tasks/{quote(task_id, safe='', errors='replace')}"


def _address(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text.rstrip("/"))
    except httpx.InvalidURL as reason:
        raise BadAddress(text) from reason
    if url.scheme not in ("http", "https") or not url.host:
        raise BadAddress(text)
    return url


def _problem(response: httpx.Response) -> ApiError:
    """Whatever stands between us and Duetime, a gateway say, refuses in its own words."""
    told = _object(response)
    return to_error(
        {"title": response.reason_phrase, "detail": told.get("message")} | told,
        response.status_code,
    )


def to_error(problem: Mapping[str, Any], status: int) -> ApiError:
    errors = [FieldError(str(e["field"]), str(e["message"])) for e in problem.get("errors") or ()]
    title = problem.get("title") or f"HTTP {status}"
    return ApiError(status, title, problem.get("detail"), errors)


def _object(response: httpx.Response) -> dict[str, Any]:
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
