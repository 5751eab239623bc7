"""`duetime watch`."""

from duetime.cli.options import AsJson, Every, Sign, TaskId, Token, Url, WaitUpTo, connect
from duetime.cli.values import duration, pause


def watch(
    task: TaskId,
    url: Url = None,
    sign: Sign = None,
    token: Token = None,
    as_json: AsJson = False,
    every: Every = "0.5",
    wait: WaitUpTo = None,
) -> None:
    """Follow a task until it ends; with --json, print it once it has."""
    from duetime.cli.following import follow

    poll, limit = pause("--every", every), duration("--wait", wait)
    with connect(url, sign, token) as client:
        follow(client, task, as_json=as_json, poll=poll, limit=limit)
