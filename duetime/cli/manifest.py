"""`duetime manifest`: what Duetime reads from the source of your handlers, without running it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from duetime.cli.options import AsJson
from duetime.cli.output import print_result
from duetime.cli.sync import App, Handlers

if TYPE_CHECKING:
    from duetime.handlers.manifest import Manifest


def manifest(handlers: Handlers = "handlers", *, app: App = None, json: AsJson = False) -> None:
    """Show the handlers, defaults and schedules in your code. Nothing is run or sent."""
    from duetime.handlers.manifest import read

    found = read(handlers, app=app)
    print_result(found.json(), lambda: lines(found), as_json=json)


def lines(found: "Manifest") -> Iterator[str]:
    from duetime.core.codec import to_json
    from duetime.terminal import one_line

    yield f"App {found.app}"
    for name, fields in found.handlers.items():
        defaults = f"  {to_json(fields['defaults'])}" if fields["defaults"] else ""
        yield one_line(f"  {name}  {fields['source']}{defaults}")
        for schedule in found.schedules:
            if schedule["task"]["target"]["handler"] == name:
                yield one_line(f"    {_described(schedule)}  {schedule['source']}")


def _described(schedule: Mapping[str, Any]) -> str:
    rule = schedule["rule"]
    zone = f" {rule['timezone']}" if "timezone" in rule else ""
    match rule["type"]:
        case "cron":
            when = f'cron "{rule["expression"]}"{zone}'
        case "rate":
            when = f"every {rule['every']:g} s"
        case _:
            when = f"{rule['delay']:g} s after each run"
    return f"{schedule['name']}: {when}"
