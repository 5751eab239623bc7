"""`duetime submit`."""

from typing import Annotated, Any

import typer

from duetime.cli import submit_options as options
from duetime.cli import values
from duetime.cli.options import AsJson, Every, Sign, Token, Url, WaitUpTo, connect
from duetime.cli.values import duration, moment, refuse


def submit(
    *,
    handler: options.Handler = None,
    http: options.Http = None,
    method: options.Method = None,
    header: options.Header = None,
    payload: options.Payload = None,
    source: options.Source = None,
    delay: options.In = None,
    run_at: options.At = None,
    jitter: options.Jitter = None,
    expires_at: options.ExpiresAt = None,
    priority: options.Priority = None,
    timeout: options.Timeout = None,
    max_attempts: options.MaxAttempts = None,
    base_delay: options.BaseDelay = None,
    multiplier: options.Multiplier = None,
    max_delay: options.MaxDelay = None,
    retry_jitter: options.RetryJitter = None,
    name: options.Name = None,
    namespace: options.Namespace = None,
    tag: options.Tag = None,
    idempotency_key: options.IdempotencyKey = None,
    ordering_key: options.OrderingKey = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")] = False,
    wait: WaitUpTo = None,
    every: Every = "0.5",
    url: Url = None,
    sign: Sign = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Submit a task, or many with --from."""
    from duetime.cli import submitting

    if wait is not None and not watch:
        refuse("--wait", "goes with --watch")
    retry = _given(
        max_attempts=max_attempts,
        base_delay=duration("--base-delay", base_delay),
        multiplier=values.number("--multiplier", multiplier),
        max_delay=duration("--max-delay", max_delay),
        jitter=duration("--retry-jitter", retry_jitter),
    )
    fields = _given(
        target=_target(handler, http, method, header or []),
        payload=None if payload is None else values.document("--payload", payload),
        delay=duration("--in", delay),
        run_at=moment("--at", run_at),
        priority=priority and priority.value,
        timeout=duration("--timeout", timeout),
        retry=retry or None,
        jitter=duration("--jitter", jitter),
        expires_at=moment("--expires-at", expires_at),
        name=name,
        namespace=namespace,
        tags=values.pairs("--tag", tag or [], "=", "team=growth") or None,
        idempotency_key=idempotency_key,
        ordering_key=ordering_key,
    )
    task = _one_or_many(fields, source)
    if watch and isinstance(task, list):
        refuse("--watch", "follows one task, and --from holds a list")
    poll, limit = values.pause("--every", every), duration("--wait", wait)
    with connect(url, sign, token) as client:
        if isinstance(task, list):
            submitting.many(client, task, as_json=as_json)
        elif watch:
            submitting.followed(client, task, as_json=as_json, poll=poll, limit=limit)
        else:
            submitting.one(client, task, as_json=as_json)


def _given(**fields: Any) -> dict[str, Any]:
    """What was not said is left to the API's defaults."""
    return {name: value for name, value in fields.items() if value is not None}


def _target(
    handler: str | None, http: str | None, method: str | None, header: list[str]
) -> dict[str, Any] | None:
    if handler is not None and http is not None:
        refuse("--handler", "cannot go with --http: a task has one target")
    if http is None:
        for option, value in (("--method", method), ("--header", header)):
            if value:
                refuse(option, "goes with --http")
        return None if handler is None else {"type": "python", "handler": handler}
    headers = values.pairs("--header", header, ":", "Accept: text/plain") or None
    return _given(type="http", url=http, method=method and method.upper(), headers=headers)


def _one_or_many(
    fields: dict[str, Any], source: str | None
) -> dict[str, Any] | list[dict[str, Any]]:
    if source is not None:
        if fields:
            refuse("--from", f"holds the whole task: put {', '.join(fields)} into it")
        return values.tasks("--from", source)
    if "target" not in fields:
        refuse("--handler", "say what to do: --handler NAME, --http URL or --from FILE")
    if "delay" in fields and "run_at" in fields:
        refuse("--in", "cannot go with --at: a task has one due time")
    return fields
