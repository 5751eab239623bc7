"""What `duetime cancel` and `duetime retry` do with each id."""

from collections.abc import Callable, Sequence

import typer

from duetime.cli.exits import code_of
from duetime.cli.output import complain, say, say_json
from duetime.client import ApiError, Task
from lambdas.core.lifecycle import Status


def for_each(
    task_ids: Sequence[str],
    act: Callable[[str], Task],
    told: Callable[[Task], str],
    *,
    as_json: bool,
) -> None:
    """Ends with the code of the first refusal. If there is no answer, what was done is told."""
    done: list[Task] = []
    refused: list[ApiError] = []
    try:
        for task_id in task_ids:
            try:
                done.append(act(task_id))
            except ApiError as error:
                refused.append(error)
                complain(error)
            else:
                if not as_json:
                    say(told(done[-1]))
    finally:
        if as_json:
            say_json({"items": done})
    if refused:
        raise typer.Exit(code_of(refused[0]))


def cancelled(task: Task) -> str:
    stopping = " and being stopped" if task["status"] == Status.RUNNING else ""
    return f"{task['id']} is {task['status']}{stopping}"


def retried(task: Task) -> str:
    return f"{task['id']} is {task['status']} and due at once"
