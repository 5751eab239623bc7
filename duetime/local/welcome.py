"""What the local runner says when it starts: where it is, and what to try."""

from collections.abc import Collection

from rich.console import Console

from duetime.local.backends import Backend
from duetime.local.options import LocalOptions


def welcome(
    console: Console, options: LocalOptions, backend: Backend, handlers: Collection[str]
) -> None:
    url = address(options)
    own = sorted(name for name in handlers if not name.startswith("duetime."))
    console.print(f"[bold]Duetime[/] is running at [bold]{url}[/]  (store: {backend.name})")
    if own:
        console.print(f"Handlers: {', '.join(own)}", style="dim")
    if backend.resumed:
        console.print(f"Resumed {backend.resumed:,} tasks that were under way.")
    console.print("\nTry, in another terminal:\n")
    for line in suggestions(url):
        console.print(f"  {line}", style="cyan", soft_wrap=True)
    console.print("\nCtrl-C stops it. What happens:\n")


def address(options: LocalOptions) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{options.port}"


def suggestions(url: str) -> list[str]:
    body = (
        '{"target": {"type": "python", "handler": "duetime.hello"},'
        ' "payload": {"name": "Ada"}, "name": "my first task", "delay": 5}'
    )
    return [
        f"curl -s {url}/v1/tasks -H 'content-type: application/json' -d '{body}'",
        f"curl -s {url}/v1/tasks",
    ]
