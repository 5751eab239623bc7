"""The routes that answer the `http` tasks of a world."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, kw_only=True)
class HttpCall:
    """A request that a task has sent. The names of the headers are in lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """An answer: `json` or `text` is its body."""

    status: int = 200
    json: Any = None
    text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        return (self.text if self.json is None else json.dumps(self.json)).encode()


Answer = int | Reply | BaseException


class Route:
    """What answers one method and URL; 200 unless `replies` says otherwise.

    Attributes:
        calls: The requests that it has answered, the first one first."""

    def __init__(self, method: str | None, url: str) -> None:
        self.method = method
        self.url = url
        self.calls: list[HttpCall] = []
        self._answers: Sequence[Reply | BaseException] = (Reply(),)
        self._pattern = re.compile(".*".join(map(re.escape, url.split("*"))), re.DOTALL)

    def replies(
        self,
        *answers: Answer,
        json: Any = None,
        text: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> "Route":
        """Sets the answers to the next requests; the last one is repeated.

        Each is a status, a `Reply`, or an exception: TimeoutError and ConnectionError fail the
        attempt as a real connection does. `json`, `text` and `headers` are those of every answer
        that is given as a status."""
        if not answers:
            answers = (200,)
        self._answers = [
            Reply(answer, json, text, headers or {}) if isinstance(answer, int) else answer
            for answer in answers
        ]
        self.calls.clear()
        return self

    def matches(self, method: str, url: str) -> bool:
        """A route without a query answers every query."""
        given = url if "?" in self.url else url.partition("?")[0]
        return self.method in (None, method) and self._pattern.fullmatch(given) is not None

    def answer(self, call: HttpCall) -> Reply | BaseException:
        self.calls.append(call)
        return self._answers[min(len(self.calls), len(self._answers)) - 1]

    def __repr__(self) -> str:
        return f"{self.method or 'any method'} {self.url}"


class HttpRoutes:
    """The declared routes of a world. In a URL, `*` matches any text."""

    def __init__(self) -> None:
        self._routes: list[Route] = []

    def route(self, method: str | None, url: str) -> Route:
        """Declares a route for one method, or for all of them if `method` is None. Of two routes
        that match a request, the one that was declared later answers."""
        if method is not None and method not in METHODS:
            raise ValueError(f"{method!r} is not one of {', '.join(METHODS)}")
        if not urlsplit(url).netloc:
            raise ValueError(f"{url!r} is not a URL like https://api.shop/charge")
        declared = Route(method, url)
        self._routes.append(declared)
        return declared

    def get(self, url: str) -> Route:
        return self.route("GET", url)

    def post(self, url: str) -> Route:
        return self.route("POST", url)

    def put(self, url: str) -> Route:
        return self.route("PUT", url)

    def patch(self, url: str) -> Route:
        return self.route("PATCH", url)

    def delete(self, url: str) -> Route:
        return self.route("DELETE", url)

    def any(self, url: str) -> Route:
        return self.route(None, url)

    def find(self, method: str, url: str) -> Route | None:
        matching = (route for route in reversed(self._routes) if route.matches(method, url))
        return next(matching, None)

    def undeclared(self, method: str, url: str) -> str:
        """Returns the message for a request that no route answers."""
        known = ", ".join(map(repr, self._routes)) or "none"
        example = f'w.http.{method.lower()}("{url}").replies(200)'
        return (
            f"a task sent {method} {url}, and no route answers it. Declared: {known}."
            f" Declare it: {example}"
        )
