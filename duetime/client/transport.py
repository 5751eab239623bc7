"""One request, one answer, or one error that says what to do."""

import json
import os
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import httpx

from duetime.client.access import LOOPBACK, access_to
from duetime.client.errors import ApiError, BadAddress, BadArgument, FieldError, Unreachable
from duetime.client.gateway import refusal
from lambdas.core.errors import DuetimeError
from lambdas.core.json_values import NotJson, to_json_value

DEFAULT_URL = "http://127.0.0.1:8080"
PAGE = 100  # the longest page, and the largest batch, that the contract allows
MOST_LEVELS = 200  # of nesting, that the API takes


class Wire:
    def __init__(
        self,
        url: str | None,
        timeout: float,
        transport: httpx.BaseTransport | None,
        *,
        sign: str | None = None,
        token: str | None = None,
    ) -> None:
        address = _address(url or os.environ.get("DUETIME_URL") or DEFAULT_URL)
        self.url = str(address)
        self._access = access_to(
            address,
            sign=sign or os.environ.get("DUETIME_SIGN"),
            token=token or os.environ.get("DUETIME_TOKEN"),
        )
        self._timeout = timeout
        here = address.host in LOOPBACK
        self._remedy = None if here else "check DUETIME_URL and the network"
        self._http = httpx.Client(
            base_url=address,
            headers={"content-type": "application/json"},
            auth=self._access.auth,
            follow_redirects=False,  # what proves who asks is for this address alone
            timeout=timeout,
            transport=transport,
            trust_env=not here,  # a proxy from the environment cannot know our loopback
        )

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """The JSON of a successful answer."""
        return self.answer(method, path, query=query, body=body)[1]

    def answer(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | UUID | None = None,
    ) -> tuple[int, Any]:
        """The status and the JSON of a successful answer. `key` is an idempotency key."""
        asked = {key: value for key, value in (query or {}).items() if value is not None}
        if asked:  # with %20 for a space, which is what a signature stands for
            path = f"{path}?{urlencode(_plain(asked), quote_via=quote, errors='replace')}"
        content = None if body is None else _encoded(body)
        response = self._send(method, path, content, key)
        return response.status_code, self._read(response, body)

    def _send(
        self, method: str, path: str, content: bytes | None, key: str | UUID | None
    ) -> httpx.Response:
        headers = None if key is None else {"idempotency-key": str(key)}
        try:
            return self._http.request(method, path, content=content, headers=headers)
        except httpx.ConnectTimeout as reason:
            raise Unreachable(self.url, remedy=self._remedy) from reason
        except httpx.TimeoutException as reason:
            what = f"No answer within {self._timeout:g} s"
            raise Unreachable(
                self.url, what, "look how Duetime is doing, then try again"
            ) from reason
        except httpx.TransportError as reason:
            raise Unreachable(self.url, remedy=self._remedy) from reason

    def _read(self, response: httpx.Response, sent: Any) -> Any:
        if not response.is_success:
            raise self._problem(response, sent)
        if response.status_code == HTTPStatus.NO_CONTENT:
            return None
        try:
            return response.json()
        except ValueError as reason:
            what = "Somebody who is not Duetime answers"
            raise Unreachable(self.url, what, "check DUETIME_URL") from reason

    def _problem(self, response: httpx.Response, sent: Any) -> DuetimeError:
        """Whatever stands between us and Duetime, a gateway say, refuses in its own words."""
        told = _object(response)
        if "title" in told:
            return to_error(told, response.status_code, sent)
        return refusal(response, told, self.url, self._access.proof)

    def close(self) -> None:
        self._http.close()


def _encoded(body: Any) -> bytes:
    try:
        # ASCII: half a surrogate pair reaches the API, which can say which field holds it.
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(body)).encode()


def _plain(body: Any) -> Any:
    """With ISO text for a datetime, seconds for a timedelta, and so on."""
    try:
        return to_json_value(body, levels=MOST_LEVELS, naive_times=False)
    except NotJson as error:
        raise BadArgument(error.path, str(error)) from None


def task_path(task_id: str) -> str:
    return f"/v1/tasks/{_segment(task_id)}"


def schedule_path(schedule_id: str) -> str:
    return f"/v1/schedules/{_segment(schedule_id)}"


def _segment(text: str) -> str:
    """An id comes from a command line: it must not reach another path."""
    return quote(text, safe="", errors="replace")


def _address(text: str) -> httpx.URL:
    try:
        url = httpx.URL(text.rstrip("/"))
    except httpx.InvalidURL as reason:
        raise BadAddress(text) from reason
    if url.scheme not in ("http", "https") or not url.host:
        raise BadAddress(text)
    return url


def to_error(problem: Mapping[str, Any], status: int, sent: Any = None) -> ApiError:
    errors = [_field_error(error, sent) for error in problem.get("errors") or ()]
    title = problem.get("title") or f"HTTP {status}"
    return ApiError(status, title, problem.get("detail"), errors, problem)


def _field_error(told: Mapping[str, Any], sent: Any) -> FieldError:
    field, position = str(told["field"]), told.get("position")
    if position is None:
        return FieldError(field, str(told["message"]))
    return FieldError(field, str(told["message"]), position, _text_at(sent, field))


def _text_at(sent: Any, path: str) -> str | None:
    """What a request says in `rules.0.expression`."""
    for part in path.split("."):
        match sent:
            case dict() if part in sent:
                sent = sent[part]
            case list() if part.isdigit() and int(part) < len(sent):
                sent = sent[int(part)]
            case _:
                return None
    return sent if isinstance(sent, str) else None


def _object(response: httpx.Response) -> dict[str, Any]:
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
