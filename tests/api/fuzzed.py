"""An API for schemathesis: a WSGI application over a system with tasks and schedules in it."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote
from zlib import crc32

from duetime import PermanentError
from duetime.api.app import Api
from duetime.api.http import Request, Response, query_values
from duetime.api.openapi.document import ROUTES
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE
from duetime.handlers.context import Context
from tests.api.openapi import HELLO, System
from tests.world import sqlite_world

TARGET = {"type": "python", "handler": HELLO}
SOON = {"rule": {"type": "rate", "every": 60}, "task": {"target": TARGET}}
LATER = {"rule": {"type": "cron", "expression": "0 12 * * *"}, "task": {"target": TARGET}}


NO_IDS = {  # `batch` in /v1/tasks/batch, and the like
    parts[3]
    for route in ROUTES
    if len(parts := route.path.split("/")) > 3 and not parts[3].startswith("{")
}


class EveryName(frozenset[str]):
    """Handlers and secrets of every name, so that a drawn task is not refused for them."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


def by_turns(task: Task, ctx: Context) -> Any:
    """Succeeds, fails, or fails for good, depending on the task."""
    match crc32(task.id.encode()) % 3:
        case 0:
            return {"attempt": ctx.attempt}
        case 1:
            raise ConnectionError("it fails")
        case _:
            raise PermanentError("it fails for good")


class FuzzedSystem(System):
    """Has tasks and schedules in many states, and puts their ids in place of drawn ones: a drawn id
    names nothing."""

    def __init__(self, world: Any) -> None:
        super().__init__(world)
        world.script = by_turns
        self.api = Api(world.ports, handlers=EveryName, secrets=EveryName, version="9.9.9")
        self._ids: Mapping[str, list[str]] = {"tasks": [], "schedules": []}
        self._fill()

    def _fill(self) -> None:
        for _ in range(6):
            self._keep("tasks", self.body("POST", "/v1/tasks", {"target": TARGET}))
        self.pass_time(MINUTE)
        for body in ({"target": TARGET}, {"target": TARGET, "delay": 86_400}):
            self._keep("tasks", self.body("POST", "/v1/tasks", body))
        self.world.lease()  # runs, and its executor never answers
        for body in (SOON, LATER, LATER | {"max_runs": 1}):
            self._keep("schedules", self.body("POST", "/v1/schedules", body))
        self.body("POST", f"/v1/schedules/{self._ids['schedules'][1]}/pause")

    def _keep(self, kind: str, made: Any) -> None:
        self._ids[kind].append(made["id"])

    def pass_time(self, span: int) -> None:
        self.world.live(min(span, HOUR), step=MINUTE)

    def real_path(self, path: str) -> str:
        """Returns the path with a real id in place of a drawn one, for most of them."""
        parts = path.split("/")
        known = self._ids.get(parts[2], []) if len(parts) > 3 else []
        drawn = unquote(parts[3]) if known else ""
        if not known or drawn in NO_IDS or len(drawn) == 26:
            return path
        choice = crc32(drawn.encode(errors="replace")) % (len(known) + 1)
        parts[3] = known[choice] if choice < len(known) else parts[3]
        return "/".join(parts)

    def wsgi(self, environ: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        response = self.api.call(self._request(environ))
        body, headers = response.encoded(), dict(response.headers)
        if headers.pop("content-encoding", None) == "gzip":  # as an HTTP client does
            body = gzip.decompress(body)
        start(f"{response.status} {_phrase(response)}", list(headers.items()))
        return [body]

    def _request(self, environ: Mapping[str, Any]) -> Request:
        sent = {name[5:]: text for name, text in environ.items() if name.startswith("HTTP_")}
        if environ.get("CONTENT_TYPE"):
            sent["CONTENT_TYPE"] = environ["CONTENT_TYPE"]
        length = int(environ.get("CONTENT_LENGTH") or 0)
        return Request(
            method=environ["REQUEST_METHOD"],
            path=self.real_path(environ["REQUEST_URI"].partition("?")[0]),
            query=query_values(parse_qsl(environ["QUERY_STRING"], keep_blank_values=True)),
            headers={name.lower().replace("_", "-"): text for name, text in sent.items()},
            body=environ["wsgi.input"].read(length),
        )


def _phrase(response: Response) -> str:
    return HTTPStatus(response.status).phrase


@contextmanager
def fuzzed_system() -> Iterator[FuzzedSystem]:
    with sqlite_world() as world:
        yield FuzzedSystem(world)


def plain(document: Any) -> Any:
    """The document as a client reads it."""
    return json.loads(json.dumps(document))
