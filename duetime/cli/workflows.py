"""`duetime workflows`: put, list, show and delete workflows."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duetime.cli import format as fmt
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Paging, check_id
from duetime.cli.output import print_text
from duetime.cli.parse import json_file, refuse
from duetime.terminal import length, one_line

if TYPE_CHECKING:
    from rich.table import Table

    from duetime.client import Checked, Workflow

NO_WORKFLOWS = "No workflows yet. Put one: duetime workflows put etl.json"
IN_CODE = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
RETURNED_ONLY = ("namespace", "version", "digest", "created_at", "updated_at")

app = typer.Typer(
    name="workflows",
    help="Workflows: graphs of steps that run one after another and side by side. To start one: "
    "duetime runs submit NAME.",
    no_args_is_help=True,
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", callback=check_id, help="The name of a workflow.")
]
Namespace = Annotated[
    str | None, typer.Option(help="The namespace of the workflow.", show_default="default")
]


@app.command()
@grouped
def put(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|MODULE:OBJECT",
            help="A JSON file, - for stdin, or a workflow in Python such as shop.flows:etl.",
        ),
    ],
    *,
    name: Annotated[
        str | None, typer.Option(help="Its name.", show_default="that in the file or code")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Check it, print its steps in order, store nothing."),
    ] = False,
    namespace: Namespace = None,
    connection: Connection,
) -> None:
    """Store a workflow, or its next version. The same steps change nothing.

    A file holds the body of PUT /v1/workflows/NAME, and may hold its name:

    {"name": "etl", "steps": [{"name": "a", …}, {"name": "b", "needs": ["a"], …}]}

    It may be the output of `duetime workflows show NAME --json`, edited."""
    given, own_name, own_namespace = _read(source)
    name = name or own_name or refuse("--name", f"{source} has no name: give one")
    fields: Any = {**given, "namespace": namespace or own_namespace}
    with connection.connect() as client:
        if dry_run:
            checked = client.workflows.check(name, **fields)
            connection.print(checked, lambda: _order(name, checked))
            return
        stored = client.workflows.put(name, **fields)
    connection.print(
        stored,
        lambda: [
            f"{stored['name']} has version {stored['version']}",
            f"Run it: duetime runs submit {stored['name']}",
        ],
    )


@app.command("list")
@grouped
def list_workflows(
    *,
    namespace: Annotated[
        str | None,
        typer.Option(help="Only of this namespace; '*' means all.", show_default="default"),
    ] = None,
    paging: Paging,
    connection: Connection,
) -> None:
    """List workflows, by name."""
    from duetime.cli.paging import print_list

    with connection.connect() as client:
        page = paging.read(
            lambda size, at: client.workflows.page(namespace=namespace, limit=size, cursor=at)
        )
    print_list(connection, page, _table, empty=NO_WORKFLOWS)


@app.command()
@grouped
def show(
    name: Name,
    *,
    version: Annotated[
        int | None, typer.Option(help="This version of it.", show_default="the current one")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every step of a wide graph.")
    ] = False,
    namespace: Namespace = None,
    connection: Connection,
) -> None:
    """Show a workflow: the graph of its steps."""
    with connection.connect() as client:
        found = client.workflows.get(name, version=version, namespace=namespace)
    connection.print(found, lambda: _lines(found, fmt.now(), everything=everything))


@app.command()
@grouped
def delete(name: Name, *, namespace: Namespace = None, connection: Connection) -> None:
    """Delete a workflow. Runs under way go on; new ones are refused."""
    with connection.connect() as client:
        client.workflows.delete(name, namespace=namespace)
    if not connection.json:
        print_text(f"Deleted {name}")


def _read(source: str) -> tuple[dict[str, Any], str | None, str | None]:
    """Returns the definition, its name and its namespace."""
    if IN_CODE.fullmatch(source):
        found = _in_code(source)
        return found.definition(), found.name, found.namespace
    given = json_file("FILE", source)
    if not isinstance(given, dict) or "steps" not in given:
        refuse("FILE", f"{source} holds no workflow: an object with `steps`")
    kept = {key: value for key, value in given.items() if key not in ("name", *RETURNED_ONLY)}
    return kept, given.get("name"), given.get("namespace")


def _in_code(source: str) -> Any:
    from duetime.workflows.builder import Workflow

    module, _, name = source.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")  # the project is where the command is typed
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and imports one that is not
        refuse("FILE", f"there is no module {module!r} here")
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Workflow):
        refuse("FILE", f"{source} is not a workflow: see `from duetime import workflow`")
    return found


def _order(name: str, checked: "Checked") -> Iterator[str]:
    yield f"{name} is valid. Nothing is stored. Its steps, in order:"
    for number, names in enumerate(checked["order"], start=1):
        yield one_line(f"{number:>3}  {', '.join(names)}")


def _lines(workflow: "Workflow", now: datetime, *, everything: bool) -> Iterator[str]:
    from duetime.cli.step_graph import draw

    yield f"{one_line(workflow['name'])}@{workflow['version']}"
    steps: Sequence[Mapping[str, Any]] = workflow.get("steps") or []
    yield from draw(steps, _line, lambda text: text, everything=everything)
    yield f"changed {fmt.when(workflow['updated_at'], now)}"
    yield f"run it: duetime runs submit {one_line(workflow['name'])}"


def _line(step: Mapping[str, Any]) -> str:
    notes = [
        _what(step),
        "for each item" if step.get("map") else "",
        "waits for a callback" if step.get("callback") else "",
        f"if {step['run_if']}" if step.get("run_if", "all_succeeded") != "all_succeeded" else "",
        "on a condition" if step.get("when") else "",
        "may fail" if step.get("allow_failure") else "",
        "at the end, always" if step.get("finally") else "",
        step.get("after", ""),
    ]
    return one_line("  ".join([step["name"], *filter(None, notes)]))


def _what(step: Mapping[str, Any]) -> str:
    if nested := step.get("workflow"):
        return f"workflow {nested if isinstance(nested, str) else 'of its own'}"
    if wait := step.get("wait"):
        seconds = wait.get("seconds")
        return f"wait {length(seconds) if seconds is not None else wait.get('until')}"
    return fmt.target(step.get("target"))


def _table(workflows: "Sequence[Workflow]", now: datetime) -> "Table":
    from duetime.cli.views import cell, list_table

    table = list_table({"NAME": 12, "VERSION": 7})
    table.add_column("CHANGED")
    table.add_column("NAMESPACE")
    for one in workflows:
        changed = fmt.relative(one["updated_at"], now, rough=True)
        names = one_line(one["name"]), str(one["version"])
        table.add_row(*names, changed, cell(one.get("namespace") or ""))
    return table
