"""Requests, responses, problems and routes, independent of the server in front."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from threading import Lock
from typing import Any
from urllib.parse import unquote

from pydantic_core import from_json

from duetime.api.callers import ANYONE, Caller
from duetime.api.encoding import encode
from duetime.core.change import Unknown
from duetime.core.text_sizes import ESCAPED_LIMIT, escaped_size, is_over_limit
from duetime.core.value import value
from duetime.engine.refusal import CONTENTION, FieldError, Refusal, excerpt

__all__ = [
    "BODY_LIMIT",
    "CONTENTION",
    "MAX_ERRORS",
    "NESTING_LIMIT",
    "Endpoint",
    "FieldError",
    "Problem",
    "QueryValues",
    "Request",
    "Response",
    "Router",
    "excerpt",
    "invalid",
    "not_found",
    "problem_of",
    "query_values",
    "recent",
    "too_large",
    "unavailable",
]

BODY_LIMIT = 5 * 1024 * 1024
NESTING_LIMIT = 201  # levels: pydantic_core reads no more
# An answer repeats what it refuses, but only as much of it as a person reads.
MAX_ERRORS = 20
MAX_DETAIL = 1_000


class Problem(Exception):
    """An error response in the format of RFC 9457. Without a `detail` of its own, the detail lists
    the errors of the fields."""

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
        self.body["detail"] = excerpt(detail or _summary(errors), MAX_DETAIL)
        if errors:
            self.body["errors"] = [error.json() for error in errors[:MAX_ERRORS]]

    def response(self) -> "Response":
        return Response(
            status=self.status,
            body=self.body,
            headers={"content-type": "application/problem+json", **self.headers},
        )


def _summary(errors: Sequence[FieldError]) -> str:
    detail = "; ".join(f"{excerpt(e.field)}: {excerpt(e.message)}" for e in errors[:MAX_ERRORS])
    left = len(errors) - MAX_ERRORS
    return f"{detail}; and {left} more" if left > 0 else detail


def invalid(errors: Sequence[FieldError]) -> Problem:
    return Problem(422, "invalid", "The request is not valid", errors=errors)


def not_found(what: str) -> Problem:
    return Problem(404, "not-found", "Not found", f"There is no {what}.")


def unavailable(reason: str, *, read_only: bool = False) -> Problem:
    detail = f"The store could not be read: {reason}. Send the request again."
    if not read_only:
        detail = f"The store did not answer: {reason}. The write may or may not have happened."
        detail += (
            " Send the request again; with an id or an idempotency key no second task is made."
        )
    return Problem(503, "unavailable", "Try again", detail, headers={"retry-after": "1"})


def problem_of(answer: Refusal | Unknown) -> Problem:
    """Returns the answer to a submission that was refused, or that the store did not answer."""
    if isinstance(answer, Unknown):
        return unavailable(answer.reason)
    problem = Problem(answer.status, answer.kind, answer.title, answer.detail, answer.errors)
    if answer.retry_after is not None:
        problem.headers = {"retry-after": str(answer.retry_after)}
        # In the body too: the result of a task in a batch has no headers.
        problem.body["retry_after"] = answer.retry_after
    return problem


def too_large(detail: str) -> Problem:
    return Problem(413, "too-large", "The body is too large", detail)


QueryValues = Mapping[str, str | Sequence[str]]  # a list if a parameter is repeated


def query_values(pairs: Iterable[tuple[str, str]]) -> QueryValues:
    """Returns the parameters of a query by name."""
    found: dict[str, str | list[str]] = {}
    for name, text in pairs:
        before = found.get(name)
        if before is None:
            found[name] = text
        else:
            found[name] = [before, text] if isinstance(before, str) else [*before, text]
    return found


@value(frozen=True, kw_only=True, slots=True)
class Request:
    method: str
    path: str
    query: "QueryValues" = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case
    body: bytes = b""
    caller: Caller = ANYONE

    def json(self) -> Any:
        if len(self.body) > BODY_LIMIT:
            raise too_large("The limit is 5 MiB.")
        if is_over_limit(self.body):
            size = escaped_size(self.body)
            limit = f"The limit is 5 MiB, and {ESCAPED_LIMIT:,} bytes as a JSON string, in which"
            raise too_large(f"{limit} a quote, a backslash or a line break takes two: {size:,}.")
        media_type = self.headers.get("content-type", "").partition(";")[0].strip()
        if media_type.lower() != "application/json":
            # A missing type is refused too: a browser sends that for any page, without a preflight.
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

    @classmethod
    def of_text(cls, text: bytes, media_type: str, **headers: str) -> "Response":
        """Returns an answer whose body is encoded already. `_` in the name of a header is `-`."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status=200, headers={"content-type": media_type, **named}, _encoded=text)

    def encoded(self) -> bytes:
        """Returns the bytes of the body. The API encodes each answer once, where a failure can
        still become a problem; the servers in front of it read the result."""
        if self._encoded is None:
            self._encoded = b"" if self.status in (204, 304) else encode(self.body)
        return self._encoded


def recent(body: Any) -> Response:
    """Returns an answer that a browser may show again for two seconds, so that the parts of a page
    share it."""
    headers = {"content-type": "application/json", "cache-control": "private, max-age=2"}
    return Response(status=200, body=body, headers=headers)


Endpoint = Callable[[Request, Mapping[str, str]], Response]


class Router:
    """Finds the endpoint for a method and a path. A segment in braces matches any segment that is
    not empty. A path that one route names and another only matches belongs to the first:
    `/v1/tasks/batch` is no task."""

    def __init__(self) -> None:
        self._routes: list[tuple[str, list[str], Endpoint]] = []
        self._lazy: dict[str, Callable[[Router], None]] = {}
        self._lock = Lock()  # requests run concurrently

    def add(self, method: str, path: str, endpoint: Endpoint) -> None:
        self._routes.append((method, path.split("/"), endpoint))

    def add_lazily(self, start: str, add: Callable[["Router"], None]) -> None:
        """Adds the routes below a path on the first request for one of them, so that the cold start
        of a function does not load what the request does not need."""
        self._lazy[start] = add

    def routes(self) -> list[str]:
        """Returns every route, such as `GET /v1/tasks`, and loads those that are added lazily."""
        for start in list(self._lazy):
            self._load(start)
        return [f"{method} {'/'.join(path)}" for method, path, _ in self._routes]

    def _load(self, start: str) -> None:
        """A concurrent request waits for the lock: without the routes it would get a 404."""
        with self._lock:
            if add := self._lazy.get(start):
                add(self)
                del self._lazy[start]

    def call(self, request: Request) -> Response:
        segments = request.path.split("/")
        if self._lazy:
            self._load("/".join(segments[:3]))
        wanted = "GET" if request.method == "HEAD" else request.method  # HEAD: GET without a body
        found = self._find(segments)
        if wanted in found:
            endpoint, parameters = found[wanted]
            return endpoint(request, parameters)
        if not found:
            raise not_found(f"{request.path} in this API")
        allowed = list(found)
        raise Problem(
            405,
            "method",
            "Method not allowed",
            f"{request.path} takes {', '.join(allowed)}.",
            headers={"allow": ", ".join(allowed)},
        )

    def _find(self, segments: Sequence[str]) -> dict[str, tuple[Endpoint, Mapping[str, str]]]:
        """Returns the endpoint of each method of a path, from the routes with the fewest
        parameters."""
        found: dict[int, dict[str, tuple[Endpoint, Mapping[str, str]]]] = {}
        for method, pattern, endpoint in self._routes:
            parameters = _match(pattern, segments)
            if parameters is not None:
                found.setdefault(len(parameters), {}).setdefault(method, (endpoint, parameters))
        return found[min(found)] if found else {}


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
