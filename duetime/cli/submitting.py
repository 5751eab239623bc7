"""What `duetime submit` does once it knows what to submit."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import typer

from duetime.cli import phrases, views
from duetime.cli.exits import ExitCode
from duetime.cli.following import follow
from duetime.cli.output import complain, say, say_json
from duetime.client import PAGE, BatchResult, Client, Submitted
from duetime.client.wire import to_error
from lambdas.core.lifecycle import FINISHED, Status


def one(submitted: Submitted, *, as_json: bool) -> None:
    if as_json:
        say_json(submitted.task)
    else:
        _tell_one(submitted)
    if ended := _ended_before(submitted):
        complain(ended)
        raise typer.Exit(ExitCode.NOT_DONE)
    if not as_json:
        say(f"Follow it: duetime watch {submitted.task['id']}")


def followed(
    client: Client, submitted: Submitted, *, as_json: bool, poll: float, limit: float | None
) -> None:
    if not as_json:
        _tell_one(submitted)
    if ended := _ended_before(submitted):
        complain(ended)
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
    ended = [text for result in results if (text := _ended_before(_submitted(result)))]
    for text in ended:
        complain(text)
    if ended or any("error" in result for result in results):
        raise typer.Exit(ExitCode.NOT_DONE)


def _tell_one(submitted: Submitted) -> None:
    say(views.submitted(submitted.task, phrases.now(), replayed=submitted.replayed))


def _ended_before(submitted: Submitted | None) -> str | None:
    """What to say of a key whose task has ended without success: nothing will run."""
    if submitted is None or not submitted.replayed:
        return None
    task_id, status = submitted.task["id"], submitted.task["status"]
    if status not in FINISHED or status == Status.SUCCEEDED:
        return None
    instead = f", or duetime retry {task_id}" if status == Status.DEAD else ""
    told = f"Nothing will run: {task_id}, the task of this key, is {status}."
    return f"{told} Use another key{instead}."


def _submitted(result: BatchResult) -> Submitted | None:
    if "task" not in result:
        return None
    return Submitted(result["task"], replayed=result["status"] == HTTPStatus.OK)


def _tell(results: Sequence[BatchResult], asked: int) -> None:
    for number, result in enumerate(results):
        if submitted := _submitted(result):
            _tell_one(submitted)
        else:
            complain_of(number, result)
    stored = sum("task" in result for result in results)
    say(f"{stored} of {asked} submitted.")


def complain_of(number: int, result: BatchResult) -> None:
    error = to_error(result.get("error", {}), result["status"])
    fields = [f"tasks[{number}].{field}" for field in error.errors]
    for words in fields or [f"tasks[{number}]: {error}"]:
        complain(words)
