"""`duetime submit`."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import typer

from duetime.cli import format as fmt
from duetime.cli import task_options as options
from duetime.cli.exit_codes import ExitCode
from duetime.cli.option_groups import grouped
from duetime.cli.options import Connection, Following, Polling
from duetime.cli.output import print_error, print_json, print_note, print_text
from duetime.cli.parse import duration, moment, refuse, task_file
from duetime.cli.task_options import TaskOptions, given, unique_fields
from duetime.core.lifecycle import FINISHED, Status

if TYPE_CHECKING:
    from duetime.client import BatchResult, Client, Submitted, Task


@grouped
def submit(
    *,
    what: TaskOptions,
    source: options.Source = None,
    delay: options.In = None,
    run_at: options.At = None,
    jitter: options.Jitter = None,
    expires_at: options.ExpiresAt = None,
    name: options.Name = None,
    idempotency_key: options.IdempotencyKey = None,
    task_id: options.TaskId = None,
    unique: options.UniqueKey = None,
    unique_while: options.UniqueWhile = None,
    on_conflict: options.ConflictAction = None,
    following: Following,
    connection: Connection,
) -> None:
    """Submit a task, or many with --from."""
    polling = following.parse()
    when = given(
        delay=duration("--in", delay),
        run_at=moment("--at", run_at),
        jitter=duration("--jitter", jitter),
        expires_at=moment("--expires-at", expires_at),
        name=name,
        idempotency_key=idempotency_key,
        id=task_id,
        unique=unique_fields(unique, unique_while, on_conflict),
    )
    task = _one_or_many({**what.fields(), **when}, source)
    if polling.watch and isinstance(task, list):
        refuse("--watch", "follows one task, and --from holds a list")
    with connection.connect() as client:
        if isinstance(task, list):
            submit_many(client, task, as_json=connection.json)
        else:
            submitted = client.submit_once(**task)
            print_submitted(client, submitted, polling, as_json=connection.json)


def _one_or_many(fields: dict[str, Any], source: str | None) -> Any:
    """Returns a task, or a list of tasks."""
    if source is not None:
        if fields:
            refuse("--from", f"holds the whole task: put {', '.join(fields)} into it")
        return task_file("--from", source)
    if "target" not in fields:
        refuse(
            "--handler", "say what to do: --handler NAME, --http URL, --target JSON or --from FILE"
        )
    if "delay" in fields and "run_at" in fields:
        refuse("--in", "cannot go with --at: a task has one due time")
    return fields


def print_submitted(
    client: "Client", submitted: "Submitted", polling: Polling, *, as_json: bool
) -> None:
    """Prints a task that was submitted, and with --watch follows it.

    Ends the command with NOT_DONE if the task had ended without success before."""
    from duetime.cli.watch import follow

    task = submitted.task
    if not as_json:
        _print_sentence(submitted)
    elif not polling.watch:
        print_json(task)
    if warning := _ended_before(submitted):
        print_error(warning)
    _print_hints([task])
    if polling.watch:
        follow(client, task["id"], polling, as_json=as_json)
    elif warning:
        raise typer.Exit(ExitCode.NOT_DONE)
    elif not as_json:
        print_text(f"Follow it: duetime watch {task['id']}")


def submit_many(client: "Client", tasks: Sequence[Any], *, as_json: bool) -> None:
    """Submits tasks in as many batches as needed.

    If a batch gets no answer, the results of those before it are still printed."""
    from duetime.client import PAGE

    results: list[BatchResult] = []
    try:
        for start in range(0, len(tasks), PAGE):
            results += client.submit_batch(tasks[start : start + PAGE])
    finally:
        if as_json:
            print_json({"results": results})
        else:
            _print_results(results, len(tasks))
    _print_hints([result["task"] for result in results if "task" in result])
    warnings = [text for result in results if (text := _ended_before(_submitted(result)))]
    for text in warnings:
        print_error(text)
    if warnings or any("error" in result for result in results):
        raise typer.Exit(ExitCode.NOT_DONE)


def _print_hints(tasks: "Iterable[Task]") -> None:
    """Prints each hint once, on stderr."""
    hints = [hint for task in tasks for hint in task.get("hints", ())]
    for text in dict.fromkeys(f"{hint['field']}: {hint['message']}" for hint in hints):
        print_note(f"Hint: {text}")


def _print_sentence(submitted: "Submitted") -> None:
    from duetime.cli import views

    print_text(views.submitted(submitted.task, fmt.now(), replayed=submitted.replayed))


def _ended_before(submitted: "Submitted | None") -> str | None:
    """Returns a warning if the task of an idempotency key has ended without success: no task will
    run."""
    if submitted is None or not submitted.replayed:
        return None
    task_id, status = submitted.task["id"], submitted.task["status"]
    if status not in FINISHED or status == Status.SUCCEEDED:
        return None
    instead = f", or duetime retry {task_id}" if status == Status.DEAD else ""
    reason = f"Nothing will run: {task_id}, the task of this key, is {status}."
    return f"{reason} Use another key{instead}."


def _submitted(result: "BatchResult") -> "Submitted | None":
    from duetime.client import Submitted

    if "task" not in result:
        return None
    return Submitted(result["task"], replayed=result["status"] == HTTPStatus.OK)


def _print_results(results: "Sequence[BatchResult]", asked: int) -> None:
    for number, result in enumerate(results):
        if submitted := _submitted(result):
            _print_sentence(submitted)
        else:
            print_refusal(number, result)
    stored = sum("task" in result for result in results)
    print_text(f"{stored} of {asked} submitted.")


def print_refusal(number: int, result: "BatchResult") -> None:
    from duetime.client.responses import to_error

    error = to_error(result.get("error", {}), result["status"])
    fields = [f"tasks[{number}].{field}" for field in error.errors]
    for line in fields or [f"tasks[{number}]: {error}"]:
        print_error(line)
