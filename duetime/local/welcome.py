"""What the local runner says when it starts: where it is, and what to try."""

import shutil
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from duetime.local.backends import Backend
from duetime.local.demo import NAMESPACE
from duetime.local.options import LocalOptions
from duetime.text import one_line

DEFAULT_URL = "http://127.0.0.1:8080"  # where the command line looks by itself
JSON = "-H 'content-type: application/json'"
BODY = '{"target": {"type": "python", "handler": "duetime.hello"}, "delay": 5}'


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
        _print_cut(console, Text(f"Handlers: {', '.join(own)}", style="dim"))
    if backend.resumed:
        console.print(f"Resumed {backend.resumed:,} tasks that were under way.")
    console.print("\nTry, in another terminal:\n")
    for line in suggestions(url, command(), demo=demo):
        console.print(Text(f"  {line}", style="cyan"), soft_wrap=True)
    console.print("\nCtrl-C stops it. What happens:\n")


def _print_cut(console: Console, line: Text) -> None:
    line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=True)


def address(options: LocalOptions) -> str:
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{options.port}"


def command() -> str:
    """How the reader can call the command line from the folder in which the runner was started."""
    if shutil.which("duetime"):
        return "duetime"
    script = Path(sys.argv[0])
    return str(script) if script.name == "duetime" else f"{sys.executable} -m duetime.cli"


def suggestions(url: str, duetime: str, *, demo: bool) -> Iterator[str]:
    """Ready to be pasted, in lines that fit 80 columns."""
    if url != DEFAULT_URL:
        yield f"export DUETIME_URL={url}"
    yield f"{duetime} submit --handler duetime.hello \\"
    yield """  --payload '{"name": "Ada"}' --in 5 --watch"""
    yield f"{duetime} list{f' --namespace {NAMESPACE}' if demo else ''}"
    yield f"{duetime} show ID"
    yield ""
    yield f"curl -s {url}/v1/tasks {JSON} \\"
    yield f"  -d '{BODY}'"
    yield f"curl -s {url}/v1/tasks"
