"""`duetime submit`."""

from typing import Any

from duetime.cli import submit_options as options
from duetime.cli import values
from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Following, Server
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
    following: Following,
    server: Server,
    as_json: AsJson = False,
) -> None:
    """Submit a task, or many with --from."""
    from duetime.cli import submitting

    poll, limit = following.checked()
    when = given(
        delay=duration("--in", delay),
        run_at=moment("--at", run_at),
        jitter=duration("--jitter", jitter),
        expires_at=moment("--expires-at", expires_at),
        name=name,
        idempotency_key=idempotency_key,
    )
    task = _one_or_many({**what.fields(), **when}, source)
    if following.watch and isinstance(task, list):
        refuse("--watch", "follows one task, and --from holds a list")
    with server.connect() as client:
        if isinstance(task, list):
            submitting.many(client, task, as_json=as_json)
            return
        submitted = client.submit_once(**task)
        if following.watch:
            submitting.followed(client, submitted, as_json=as_json, poll=poll, limit=limit)
        else:
            submitting.one(submitted, as_json=as_json)


def _one_or_many(fields: dict[str, Any], source: str | None) -> Any:
    """A task, or a list of them."""
    if source is not None:
        if fields:
            refuse("--from", f"holds the whole task: put {', '.join(fields)} into it")
        return values.tasks("--from", source)
    if "target" not in fields:
        refuse("--handler", "say what to do: --handler NAME, --http URL or --from FILE")
    if "delay" in fields and "run_at" in fields:
        refuse("--in", "cannot go with --at: a task has one due time")
    return fields
