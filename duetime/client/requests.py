"""Requests as values: what a call sends, before any I/O."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from duetime.client.errors import BadArgument
from duetime.core.json_values import NotJson, to_json_value

PAGE = 100  # the API's limit for the items of a page and the tasks of a batch
MAX_DEPTH = 200  # levels of nesting that the API accepts
LIMITS = "/v1/limits"
RUNS = "/v1/runs"
SCHEDULES = "/v1/schedules"
SYNC = f"{SCHEDULES}/sync"
WORKFLOWS = "/v1/workflows"
# Created once: json.dumps builds a new encoder for each call with options. As ASCII, half a
# surrogate pair reaches the API, whose error names the field.
_to_json = json.JSONEncoder(allow_nan=False).encode


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """`body` becomes JSON, unless it is bytes. `key` is an idempotency key. `wait` asks the server
    to answer within so many seconds: when the task changes its status (RFC 7240). `traceparent`
    names the span of the request (W3C Trace Context)."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Any = None
    key: str | UUID | None = None
    wait: int | None = None
    traceparent: str | None = None  # of a request without a key

    def target(self) -> str:
        """Returns the path with the parameters that are not None."""
        parameters = given(self.query or {})
        if not parameters:
            return self.path
        # A space is written as %20, as in the text that is signed.
        options: Any = {"doseq": True, "quote_via": quote, "errors": "replace"}
        return f"{self.path}?{urlencode(_plain(parameters), **options)}"

    def content(self) -> bytes | None:
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return encode(self.body)

    def headers(self) -> dict[str, str] | None:
        if self.key is not None:
            return {"idempotency-key": str(self.key)}
        if self.traceparent is not None:
            return {"traceparent": self.traceparent}
        return None if self.wait is None else {"prefer": f"wait={self.wait}"}


def encode(body: Any) -> bytes:
    try:
        return _to_json(body).encode()
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(body)).encode()


def _plain(body: Any) -> Any:
    """Converts values that JSON lacks: a datetime to ISO text, a timedelta to seconds, …"""
    try:
        return to_json_value(body, levels=MAX_DEPTH, naive_times=False)
    except NotJson as error:
        raise BadArgument(error.path, str(error)) from None


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def task_path(task_id: str) -> str:
    return f"/v1/tasks/{_segment(task_id)}"


def limit_path(name: str) -> str:
    return f"{LIMITS}/{_segment(name)}"


def workflow_path(name: str) -> str:
    return f"{WORKFLOWS}/{_segment(name)}"


def run_path(run_id: str, step: str | None = None) -> str:
    """Returns the path of a run, or of one of its steps."""
    path = f"{RUNS}/{_segment(run_id)}"
    return path if step is None else f"{path}/steps/{_segment(step)}"


def callback_path(token: str) -> str:
    return f"/v1/callbacks/{_segment(token)}"


def schedule_path(schedule_id: str) -> str:
    return f"{SCHEDULES}/{_segment(schedule_id)}"


def named_schedule_path(name: str) -> str:
    return f"{SCHEDULES}/by-name/{_segment(name)}"


def _segment(text: str) -> str:
    """Quotes an id, which may come from a command line, so that it cannot name another path."""
    return quote(text, safe="", errors="replace")
