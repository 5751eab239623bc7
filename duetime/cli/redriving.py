"""What `duetime dlq redrive` does once it knows which tasks are meant."""

from collections.abc import Iterator
from typing import NamedTuple

import typer

from duetime.cli.exits import ExitCode
from duetime.cli.output import agreed, answerable, complain, say, say_json
from duetime.cli.phrases import count
from duetime.cli.values import refuse
from duetime.client import DeadFilter, DeadLetters, Redriven
from duetime.client.dead_letters import summed


class Parts(NamedTuple):
    """The calls that a redrive takes."""

    letters: DeadLetters
    ids: list[str] | None
    which: DeadFilter
    everything: bool

    def calls(self, *, dry_run: bool) -> Iterator[Redriven]:
        return self.letters.redrive_in_parts(
            ids=self.ids, everything=self.everything, dry_run=dry_run, **self.which
        )


def check_answerable() -> None:
    if not answerable():
        refuse("--yes", "needed where there is no terminal to ask on; --dry-run looks first")


def redrive(parts: Parts, *, dry_run: bool, sure: bool, as_json: bool) -> None:
    """Ends with NOT_DONE if any was not redriven."""
    if not (dry_run or sure):
        counted = summed(parts.calls(dry_run=True), dry_run=True)
        if counted["redriven"] == 0:
            tell(counted, as_json=as_json)
            return
        _ask(counted["redriven"])
    total = _run(parts, dry_run=dry_run, as_json=as_json)
    if total["not_redriven"]:
        raise typer.Exit(ExitCode.NOT_DONE)


def _ask(number: int) -> None:
    if not agreed(f"Redrive {count(number, 'task')}?"):
        complain("Nothing was redriven.")
        raise typer.Exit(ExitCode.NOT_DONE)


def _run(parts: Parts, *, dry_run: bool, as_json: bool) -> Redriven:
    """If one call gets no answer, what was done before is told."""
    done: list[Redriven] = []
    try:
        for part in parts.calls(dry_run=dry_run):
            done.append(part)
    finally:
        total = summed(done, dry_run=dry_run)
        if done:
            tell(total, as_json=as_json)
    return total


def tell(total: Redriven, *, as_json: bool) -> None:
    if as_json:
        say_json(total)
        return
    for left in total["not_redriven"]:
        complain(f"{left['id']} was not redriven: {left['reason']}")
    say(_sentence(total))


def _sentence(total: Redriven) -> str:
    number = total["redriven"]
    if number == 0 and not total["not_redriven"]:
        return "No dead letters to redrive."
    if total["dry_run"]:
        return f"{count(number, 'task')} would be redriven."
    return f"Redriven {count(number, 'task')}."
