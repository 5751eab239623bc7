"""What `duetime submit` does once it knows what to submit."""

from collections.abc import Sequence
from typing import Any

import typer

from duetime.cli import phrases, views
from duetime.cli.exits import ExitCode
from duetime.cli.following import follow
from duetime.cli.output import complain, say, say_json
from duetime.client import PAGE, BatchResult, Client, Submitted
from duetime.client.wire import to_error


def one(submitted: Submitted, *, as_json: bool) -> None:
    if as_json:
        say_json(submitted.task)
        return
    _tell_one(submitted)
    say(f"Follow it: duetime watch {submitted.task['id']}")


def followed(
    client: Client, submitted: Submitted, *, as_json: bool, poll: float, limit: float | None
) -> None:
    if not as_json:
        _tell_one(submitted)
    follow(client, submitted.task["id"], as_json=as_json, poll=poll, limit=limit)


def many(client: Client, tasks: Sequence[Any], *, as_json: bool) -> None:
    """In as many batches as it takes. If one gets no answer, what came before is told."""
    results: list[BatchResult] = []
    try:
        for start in range(0, len(tasks), PAGE):
            results += client.submit_batch(tasks[start : start + PAGE])
    finally:
        if as_json:
            say_json({"results": results})
        else:
            _tell(results, len(tasks))
    if any("error" in result for result in results):
        raise typer.Exit(ExitCode.NOT_DONE)


def _tell_one(submitted: Submitted) -> None:
    say(views.submitted(submitted.task, phrases.now(), replayed=submitted.replayed))


def _tell(results: Sequence[BatchResult], asked: int) -> None:
    for number, result in enumerate(results):
        if "task" in result:
            _tell_one(Submitted(result["task"], replayed=result["status"] == 200))
        else:
            complain_of(number, result)
    stored = sum("task" in result for result in results)
    say(f"{stored} of {asked} submitted.")


def complain_of(number: int, result: BatchResult) -> None:
    error = to_error(result.get("error", {}), result["status"])
    fields = [f"tasks[{number}].{field}" for field in error.errors]
    for words in fields or [f"tasks[{number}]: {error}"]:
        complain(words)
