"""HTTP requests to the API: each returns an answer or raises an error that says what to do."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

import httpx

from duetime.client.auth import LOOPBACK, AuthMethod, auth_for
from duetime.client.errors import (
    ApiError,
    BadAddress,
    BadArgument,
    FieldError,
    Throttled,
    Unreachable,
)
from duetime.core.errors import DuetimeError
from duetime.core.json_values import NotJson, to_json_value

DEFAULT_URL = "http://127.0.0.1:8080"
PAGE = 100  # the API's limit for the items of a page and the tasks of a batch
MAX_DEPTH = 200  # levels of nesting that the API accepts

REMEDIES = {
    AuthMethod.NONE: "set DUETIME_SIGN to the AWS region of the API, or set DUETIME_TOKEN",
    AuthMethod.SIGNATURE: "allow these AWS credentials execute-api:Invoke,"
    " or set another AWS_PROFILE",
    AuthMethod.TOKEN: "get a new token and set DUETIME_TOKEN, or unset it to sign",
}
TOKEN_NEEDED = "the API needs a token: set DUETIME_TOKEN"
CHECK_HEALTH = "check the health of Duetime, then try again"

# For a signed request: part of the gateway's message, and the remedy.
SIGNATURE_REMEDIES = {
    "is expired": "sign in again with `aws sso login`, or set new keys with `aws configure`",
    "request is invalid": "AWS does not know these credentials: set another AWS_PROFILE",
    "does not match": "check the secret key with `aws configure`",
    "Signature expired": "set this machine's clock",
    "Signature not yet": "set this machine's clock",
    "valid region": "set DUETIME_SIGN to the region of the API",
    "Missing Authentication Token": "the API has no such path: check DUETIME_URL and its stage",
}


class Transport:
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
        self._auth = auth_for(
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
            auth=self._auth.auth,
            follow_redirects=False,  # the credentials are for this address only
            timeout=timeout,
            transport=transport,
            trust_env=not here,  # a proxy cannot reach the loopback of this machine
        )

    def call(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Returns the JSON of a successful answer."""
        return self.request(method, path, query=query, body=body)[1]

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | UUID | None = None,
    ) -> tuple[int, Any]:
        """Returns the status and the JSON of a successful answer. `key` is an idempotency key."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:  # a space is written as %20, as in the text that is signed
            options: Any = {"doseq": True, "quote_via": quote, "errors": "replace"}
            path = f"{path}?{urlencode(_plain(given), **options)}"
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
            raise Unreachable(self.url, what, CHECK_HEALTH) from reason
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
            what = "A server that is not Duetime answers"
            raise Unreachable(self.url, what, "check DUETIME_URL", temporary=False) from reason

    def _problem(self, response: httpx.Response, sent: Any) -> DuetimeError:
        """An answer without a title is not from Duetime but from a gateway in front of it."""
        body = _object(response)
        if "title" in body:
            error: DuetimeError = to_error(body, response.status_code, sent)
        else:
            error = _gateway_error(response, body, self.url, self._auth.method)
        if isinstance(error, ApiError | Unreachable):
            error.retry_after = _seconds(response.headers.get("retry-after"))
        return error

    def close(self) -> None:
        self._http.close()


def _encoded(body: Any) -> bytes:
    try:
        # As ASCII, half a surrogate pair reaches the API, whose error names the field.
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(body)).encode()


def _plain(body: Any) -> Any:
    """Converts values that JSON lacks: a datetime to ISO text, a timedelta to seconds, …"""
    try:
        return to_json_value(body, levels=MAX_DEPTH, naive_times=False)
    except NotJson as error:
        raise BadArgument(error.path, str(error)) from None


def read_items(page: Callable[[str | None], Any]) -> Iterator[Any]:
    """Yields the items of a list. `page` reads the page at a cursor."""
    cursor = None
    while True:
        found = page(cursor)
        yield from found["items"]
        cursor = found["next_cursor"]
        if cursor is None:
            return


def page_at(cursor: str | None) -> dict[str, Any]:
    return {"limit": PAGE, "cursor": cursor}


def task_path(task_id: str) -> str:
    return f"/v1/tasks/{_segment(task_id)}"


def schedule_path(schedule_id: str) -> str:
    return f"/v1/schedules/{_segment(schedule_id)}"


def _segment(text: str) -> str:
    """Quotes an id, which may come from a command line, so that it cannot name another path."""
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


def _field_error(error: Mapping[str, Any], sent: Any) -> FieldError:
    field, position = str(error["field"]), error.get("position")
    if position is None:
        return FieldError(field, str(error["message"]))
    return FieldError(field, str(error["message"]), position, _text_at(sent, field))


def _text_at(sent: Any, path: str) -> str | None:
    """Returns the submitted text at a path such as `rules.0.expression`."""
    for part in path.split("."):
        match sent:
            case dict() if part in sent:
                sent = sent[part]
            case list() if part.isdigit() and int(part) < len(sent):
                sent = sent[int(part)]
            case _:
                return None
    return sent if isinstance(sent, str) else None


def _seconds(text: str | None) -> float | None:
    """Reads a Retry-After in seconds. A date is ignored: it is for caches."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


def _object(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _gateway_error(
    response: httpx.Response, body: dict[str, Any], url: str, method: AuthMethod
) -> DuetimeError:
    """Returns the error for an answer that comes from an API gateway, not from Duetime."""
    status, title = response.status_code, response.reason_phrase
    message = body.get("message") or title
    match status:
        case 401 | 403:
            parts = [_token_error(response), message, _remedy(status, str(message), method)]
            return ApiError(status, title, "; ".join(p for p in parts if p and p != title))
        case 404:
            what, remedy = "There is no such path", "check DUETIME_URL and its stage"
            return Unreachable(url, what, remedy, temporary=False)
        case 429:
            return Throttled(status, title, "the API is throttled; wait a moment and try again")
        case 503 | 504:
            return Unreachable(url, f"The gateway says {message!r}", CHECK_HEALTH)
        case _:
            return ApiError(status, title, body.get("message"))


def _remedy(status: int, message: str, method: AuthMethod) -> str:
    if status == 401 and method is not AuthMethod.TOKEN:
        return TOKEN_NEEDED
    if method is AuthMethod.SIGNATURE:
        for part, remedy in SIGNATURE_REMEDIES.items():
            if part in message:
                return remedy
    return REMEDIES[method]


def _token_error(response: httpx.Response) -> str | None:
    """Returns why a JWT authorizer refused a token."""
    header = response.headers.get("www-authenticate", "")
    found = re.search(r'error_description="([^"]*)"', header)
    return found and found[1]
