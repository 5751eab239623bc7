"""The options that say what a task does and how: of `submit`, and of a schedule's tasks."""

from dataclasses import dataclass
from typing import Any

from duetime.cli import submit_options as options
from duetime.cli import values
from duetime.cli.values import duration, refuse


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskOptions:
    handler: options.Handler = None
    http: options.Http = None
    method: options.Method = None
    header: options.Header = None
    payload: options.Payload = None
    priority: options.Priority = None
    timeout: options.Timeout = None
    max_attempts: options.MaxAttempts = None
    base_delay: options.BaseDelay = None
    multiplier: options.Multiplier = None
    max_delay: options.MaxDelay = None
    retry_jitter: options.RetryJitter = None
    namespace: options.Namespace = None
    tag: options.Tag = None
    ordering_key: options.OrderingKey = None

    def fields(self) -> dict[str, Any]:
        """Of a task as submitted; what was not said is left out."""
        return given(
            target=self._target(),
            payload=None if self.payload is None else values.document("--payload", self.payload),
            priority=self.priority and self.priority.value,
            timeout=duration("--timeout", self.timeout),
            retry=self._retry() or None,
            namespace=self.namespace,
            tags=values.pairs("--tag", self.tag or [], "=", "team=growth") or None,
            ordering_key=self.ordering_key,
        )

    def _retry(self) -> dict[str, Any]:
        return given(
            max_attempts=self.max_attempts,
            base_delay=duration("--base-delay", self.base_delay),
            multiplier=values.number("--multiplier", self.multiplier),
            max_delay=duration("--max-delay", self.max_delay),
            jitter=duration("--retry-jitter", self.retry_jitter),
        )

    def _target(self) -> dict[str, Any] | None:
        if self.handler is not None and self.http is not None:
            refuse("--handler", "cannot go with --http: a task has one target")
        if self.http is not None:
            headers = values.pairs("--header", self.header or [], ":", "Accept: text/plain") or None
            method = self.method and self.method.upper()
            return given(type="http", url=self.http, method=method, headers=headers)
        for option, value in (("--method", self.method), ("--header", self.header)):
            if value:
                refuse(option, "goes with --http")
        return None if self.handler is None else {"type": "python", "handler": self.handler}


def given(**fields: Any) -> dict[str, Any]:
    """What was not said is left to the API's defaults."""
    return {name: value for name, value in fields.items() if value is not None}
