"""What `duetime cancel` does with each id."""

from collections.abc import Sequence

import typer

from duetime.cli.exits import code_of
from duetime.cli.output import complain, say, say_json
from duetime.client import ApiError, Client, Task
from lambdas.core.lifecycle import Status


def cancel_each(client: Client, task_ids: Sequence[str], *, as_json: bool) -> None:
    """Ends with the code of the first refusal. If there is no answer, what was done is told."""
    cancelled: list[Task] = []
    refused: list[ApiError] = []
    try:
        for task_id in task_ids:
            try:
                cancelled.append(client.cancel(task_id))
            except ApiError as error:
                refused.append(error)
                complain(error)
            else:
                tell(cancelled[-1], as_json)
    finally:
        if as_json:
            say_json({"items": cancelled})
    if refused:
        raise typer.Exit(code_of(refused[0]))


def tell(task: Task, as_json: bool) -> None:
    if as_json:
        return
    stopping = " and being stopped" if task["status"] == Status.RUNNING else ""
    say(f"{task['id']} is {task['status']}{stopping}")
