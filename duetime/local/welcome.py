"""What the local runner says when it starts: where it is, and what to try."""

from collections.abc import Collection

from rich.console import Console
from rich.text import Text

from duetime.local.backends import Backend
from duetime.local.demo import NAMESPACE
from duetime.local.options import LocalOptions
from duetime.text import one_line


def welcome(
    console: Console,
    options: LocalOptions,
    backend: Backend,
    handlers: Collection[str],
    *,
    demo: bool,
) -> None:
    url = address(options)
    own = sorted(name for name in handlers if not name.startswith("duetime."))
    store = f"  (store: {one_line(backend.name)})"
    head = Text.assemble(("Duetime", "bold"), " is running at ", (url, "bold"), store)
    console.print(head, soft_wrap=True)
    if own:
        console.print(Text(f"Handlers: {', '.join(own)}", style="dim"), soft_wrap=True)
    if backend.resumed:
        console.print(f"Resumed {backend.resumed:,} tasks that were under way.")
    console.print("\nTry, in another terminal:\n")
    for line in suggestions(url, demo=demo):
        console.print(Text(f"  {line}", style="cyan"), soft_wrap=True)
    console.print("\nCtrl-C stops it. What happens:\n")


def address(options: LocalOptions) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{options.port}"


def suggestions(url: str, *, demo: bool) -> list[str]:
    body = (
        '{"target": {"type": "python", "handler": "duetime.hello"},'
        ' "payload": {"name": "Ada"}, "name": "my first task", "delay": 5}'
    )
    lines = [
        f"curl -s {url}/v1/tasks -H 'content-type: application/json' -d '{body}'",
        f"curl -s {url}/v1/tasks",
    ]
    if demo:
        lines.append(f"curl -s '{url}/v1/tasks?namespace={NAMESPACE}'")
    return lines
