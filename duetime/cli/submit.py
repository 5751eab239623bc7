"""`duetime submit`."""

from typing import Annotated, Any

import typer

from duetime.cli import values
from duetime.cli.options import AsJson, Every, Url, WaitUpTo, connect
from duetime.cli.values import duration, moment, refuse
from lambdas.core.lanes import Lane

WHAT, WHEN, RETRIES, LABELS = "What to do", "When", "If it fails", "Labels and keys"
DURATION = "DURATION"
TIME = "TIME"


def submit(
    *,
    handler: Annotated[
        str | None,
        typer.Option(help="A Python handler, e.g. reports.daily.", rich_help_panel=WHAT),
    ] = None,
    http: Annotated[
        str | None, typer.Option(metavar="URL", help="An address to call.", rich_help_panel=WHAT)
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="With --http.", show_default="POST", rich_help_panel=WHAT),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'K: V'", help="With --http; repeatable.", rich_help_panel=WHAT),
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option(metavar="JSON|@FILE|-", help="What it is given.", rich_help_panel=WHAT),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE|-",
            help="A whole task as JSON, or a list of tasks.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            "--in", metavar=DURATION, help="E.g. 10, 90s, 5m, 1h30m, 2d.", rich_help_panel=WHEN
        ),
    ] = None,
    run_at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar=TIME, help="E.g. 2026-11-16T09:00:00+01:00.", rich_help_panel=WHEN
        ),
    ] = None,
    jitter: Annotated[
        str | None,
        typer.Option(metavar=DURATION, help="Add up to this much at random.", rich_help_panel=WHEN),
    ] = None,
    expires_at: Annotated[
        str | None,
        typer.Option(metavar=TIME, help="Do not start it after this.", rich_help_panel=WHEN),
    ] = None,
    priority: Annotated[
        Lane | None,
        typer.Option(case_sensitive=False, show_default="medium", rich_help_panel=WHEN),
    ] = None,
    timeout: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION,
            help="How long an attempt may take.",
            show_default="60",
            rich_help_panel=RETRIES,
        ),
    ] = None,
    max_attempts: Annotated[
        int | None,
        typer.Option(help="Counts the first.", show_default="5", rich_help_panel=RETRIES),
    ] = None,
    base_delay: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION,
            help="The pause after the first failure.",
            show_default="1",
            rich_help_panel=RETRIES,
        ),
    ] = None,
    multiplier: Annotated[
        float | None,
        typer.Option(help="How the pause grows.", show_default="2", rich_help_panel=RETRIES),
    ] = None,
    max_delay: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION, help="The longest pause.", show_default="1h", rich_help_panel=RETRIES
        ),
    ] = None,
    retry_jitter: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION,
            help="Add up to this much to each pause.",
            show_default="0.5",
            rich_help_panel=RETRIES,
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="For people to read.", rich_help_panel=LABELS)
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Whose task it is.", show_default="default", rich_help_panel=LABELS),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="K=V", help="Repeatable.", rich_help_panel=LABELS)
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(help="Submitting again with it makes no second task.", rich_help_panel=LABELS),
    ] = None,
    ordering_key: Annotated[
        str | None, typer.Option(help="Tasks that share it run in order.", rich_help_panel=LABELS)
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")] = False,
    wait: WaitUpTo = None,
    every: Every = 0.5,
    url: Url = None,
    as_json: AsJson = False,
) -> None:
    """Submit a task, or many with --from."""
    from duetime.cli import submitting

    if wait is not None and not watch:
        refuse("--wait", "goes with --watch")
    retry = _given(
        max_attempts=max_attempts,
        base_delay=duration("--base-delay", base_delay),
        multiplier=multiplier,
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
    limit = duration("--wait", wait)
    with connect(url) as client:
        if isinstance(task, list):
            submitting.many(client, task, as_json=as_json)
        elif watch:
            submitting.followed(client, task, as_json=as_json, every=every, limit=limit)
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
