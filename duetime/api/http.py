"""Requests, responses, problems and routes, whatever server stands in front."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import unquote

from pydantic_core import from_json

from lambdas.api.encoding import encode
from lambdas.api.sizes import ESCAPED_LIMIT, escaped_size
from lambdas.core.values import value

BODY_LIMIT = 5 * 1024 * 1024
NESTING_LIMIT = 201  # levels: pydantic_core reads no more
# An answer repeats what it refuses, but no more of it than a person reads.
MOST_ERRORS = 20
MOST_SHOWN = 200
MOST_DETAIL = 1_000
OVERTAKEN = "other writes were faster, again and again"  # why it gave up


class FieldError(NamedTuple):
    field: str
    message: str
    position: int | None = None  # in a text that has parts, from 1: where the fault begins

    def json(self) -> dict[str, Any]:
        said = {"field": shown(self.field), "message": shown(self.message)}
        return said if self.position is None else {**said, "position": self.position}


class Problem(Exception):
    """An answer that says no, as RFC 9457 has it. What is wrong with the fields is its detail,
    unless there is more to say."""

    def __init__(
        self,
        status: int,
        kind: str,
        title: str,
        detail: str | None = None,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(title)
        self.status = status
        self.headers = headers or {}
        self.body: dict[str, Any] = {
            "type": f"urn:duetime:problem:{kind}",
            "title": title,
            "status": status,
        }
        self.body["detail"] = shown(detail or _all_in_one(errors), MOST_DETAIL)
        if errors:
            self.body["errors"] = [error.json() for error in errors[:MOST_ERRORS]]

    def response(self) -> "Response":
        return Response(
            status=self.status,
            body=self.body,
            headers={"content-type": "application/problem+json", **self.headers},
        )


def shown(text: str, most: int = MOST_SHOWN) -> str:
    """What a request said, made safe to say back: bounded, and valid Unicode."""
    cut = text if len(text) <= most else f"{text[:most]}…"
    return cut.encode(errors="replace").decode()


def _all_in_one(errors: Sequence[FieldError]) -> str:
    detail = "; ".join(f"{shown(e.field)}: {shown(e.message)}" for e in errors[:MOST_ERRORS])
    left = len(errors) - MOST_ERRORS
    return f"{detail}; and {left} more" if left > 0 else detail


def invalid(errors: Sequence[FieldError]) -> Problem:
    return Problem(422, "invalid", "The request is not valid", errors=errors)


def not_found(what: str) -> Problem:
    return Problem(404, "not-found", "Not found", f"There is no {what}.")


def unavailable(reason: str, *, read_only: bool = False) -> Problem:
    detail = f"The store could not be read: {reason}. Send the request again."
    if not read_only:
        detail = f"The store did not answer: {reason}. The write may or may not stand. Send it"
        detail += " again; with an idempotency key a task cannot come to be twice."
    return Problem(503, "unavailable", "Try again", detail, headers={"retry-after": "1"})


def _too_large(detail: str) -> Problem:
    return Problem(413, "too-large", "The body is too large", detail)


@value(frozen=True, kw_only=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    body: bytes = b""

    def json(self) -> Any:
        if len(self.body) > BODY_LIMIT:
            raise _too_large("The limit is 5 MiB.")
        if (size := escaped_size(self.body)) > ESCAPED_LIMIT:
            limit = f"The limit is 5 MiB, and {ESCAPED_LIMIT:,} bytes as a JSON string, in which"
            raise _too_large(f"{limit} a quote, a backslash or a line break takes two: {size:,}.")
        media_type = self.headers.get("content-type", "").partition(";")[0].strip()
        if media_type.lower() != "application/json":
            # Without one too: a browser sends that for any page, and asks nobody first.
            detail = f"Send application/json, not {media_type or 'without a Content-Type'}."
            raise Problem(415, "media-type", "Unsupported media type", detail)
        if not self.body.strip():
            raise Problem(400, "malformed", "The body is not JSON", "The body is empty.")
        try:
            return from_json(self.body, allow_inf_nan=False)
        except ValueError as error:
            if "recursion limit" in str(error):
                detail = f"At most {NESTING_LIMIT} levels of objects and arrays."
                raise Problem(400, "malformed", "The body is nested too deep", detail) from None
            raise Problem(400, "malformed", "The body is not JSON", str(error)) from None


@value(kw_only=True, slots=True)
class Response:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    _encoded: bytes | None = None

    def encoded(self) -> bytes:
        """The bytes of the body. The API encodes each answer once, where a failure can still
        become a problem; the servers in front of it only read what is there."""
        if self._encoded is None:
            self._encoded = b"" if self.status == 204 else encode(self.body)
        return self._encoded


Endpoint = Callable[[Request, Mapping[str, str]], Response]


class Router:
    """Finds the endpoint for a method and a path; a segment in braces matches anything
    but nothing. Of two that match, the one that was added first is meant."""

    def __init__(self) -> None:
        self._routes: list[tuple[str, list[str], Endpoint]] = []
        self._later: dict[str, Callable[[Router], None]] = {}
        self._turn = Lock()  # requests are answered side by side

    def add(self, method: str, path: str, endpoint: Endpoint) -> None:
        self._routes.append((method, path.split("/"), endpoint))

    def add_later(self, start: str, add: Callable[["Router"], None]) -> None:
        """Have the routes below a path added when one of them is first asked for: a cold function
        need not wait for what nobody wants."""
        self._later[start] = add

    def _add_now(self, start: str) -> None:
        """Who comes meanwhile waits: without the routes he would be told that there are none."""
        with self._turn:
            if add := self._later.get(start):
                add(self)
                del self._later[start]

    def call(self, request: Request) -> Response:
        segments = request.path.split("/")
        if self._later:
            self._add_now("/".join(segments[:3]))
        wanted = "GET" if request.method == "HEAD" else request.method  # a GET, less its body
        allowed = []
        for method, pattern, endpoint in self._routes:
            parameters = _match(pattern, segments)
            if parameters is not None:
                if method == wanted:
                    return endpoint(request, parameters)
                allowed.append(method)
        if not allowed:
            raise not_found(f"{request.path} in this API")
        raise Problem(
            405,
            "method",
            "Method not allowed",
            f"{request.path} takes {', '.join(allowed)}.",
            headers={"allow": ", ".join(allowed)},
        )


def _match(pattern: Sequence[str], segments: Sequence[str]) -> dict[str, str] | None:
    if len(pattern) != len(segments):
        return None
    parameters = {}
    for expected, given in zip(pattern, segments, strict=True):
        if expected.startswith("{") and given:
            parameters[expected[1:-1]] = unquote(given)
        elif expected != given:
            return None
    return parameters
