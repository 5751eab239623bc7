"""`duetime watch`."""

from duetime.cli.groups import grouped
from duetime.cli.options import AsJson, Every, Server, TaskId, WaitUpTo
from duetime.cli.values import duration, pause


@grouped
def watch(
    task: TaskId,
    *,
    server: Server,
    as_json: AsJson = False,
    every: Every = "0.5",
    wait: WaitUpTo = None,
) -> None:
    """Follow a task until it ends; with --json, print it once it has."""
    from duetime.cli.following import follow

    poll, limit = pause("--every", every), duration("--wait", wait)
    with server.connect() as client:
        follow(client, task, as_json=as_json, poll=poll, limit=limit)
