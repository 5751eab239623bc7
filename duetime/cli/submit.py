"""`duetime submit`."""

from typing import Annotated, Any

import typer

from duetime.cli import submit_options as options
from duetime.cli import values
from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Every, Sign, Token, Url, WaitUpTo, connect
from duetime.cli.task_options import TaskOptions, given
from duetime.cli.values import duration, moment, refuse


@grouped
def submit(
    *,
    what: TaskOptions,
    source: options.Source = None,
    delay: options.In = None,
    run_at: options.At = None,
    jitter: options.Jitter = None,
    expires_at: options.ExpiresAt = None,
    name: options.Name = None,
    idempotency_key: options.IdempotencyKey = None,
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
    when = given(
        delay=duration("--in", delay),
        run_at=moment("--at", run_at),
        jitter=duration("--jitter", jitter),
        expires_at=moment("--expires-at", expires_at),
        name=name,
        idempotency_key=idempotency_key,
    )
    task = _one_or_many({**what.fields(), **when}, source)
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
