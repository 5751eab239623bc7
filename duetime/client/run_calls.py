"""Calls about runs, and about what completes their suspended steps."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from duetime import tracing
from duetime.client.calls import Call, ask, items
from duetime.client.errors import BadArgument
from duetime.client.requests import RUNS, callback_path, encode, run_path, task_path
from duetime.client.submissions import Retries, post
from duetime.client.types import Json, Task
from duetime.client.workflow_types import Checked, Run, RunFilter, RunPage, SubmittedRun

FAILED = "Failed"  # the type of an error that is given as a text
ONCE = Retries(times=0, chance=lambda: 0.0)


def submit(fields: Mapping[str, Any], retries: Retries) -> Call[SubmittedRun]:
    """Repeats a submission that has an idempotency key: without one, a run whose answer was lost
    would be stored twice."""
    often = retries if fields.get("idempotency_key") is not None else ONCE
    spans = tracing.client_spans()
    if spans is None:
        answer = yield from post(RUNS, encode(fields), often)
    else:
        with spans.submit({"type": "workflow", **fields}, None) as trace:
            answer = yield from post(RUNS, encode(fields), often, trace)
    return SubmittedRun(answer.value, replayed=answer.status == HTTPStatus.OK)


def check(fields: Mapping[str, Any]) -> Call[Checked]:
    return ask("POST", RUNS, query={"dry_run": "true"}, body=fields)


def get(run_id: str) -> Call[Run]:
    return ask("GET", run_path(run_id))


def page(which: RunFilter, *, limit: int | None, cursor: str | None) -> Call[RunPage]:
    return ask("GET", RUNS, query={**which, "limit": limit, "cursor": cursor})


def every(which: RunFilter) -> Call[None]:
    return items(RUNS, dict(which))


def cancel(run_id: str) -> Call[Run]:
    return ask("DELETE", run_path(run_id))


def retry(run_id: str, steps: Sequence[str] | None) -> Call[Run]:
    body = None if steps is None else {"steps": list(steps)}
    return ask("POST", f"{run_path(run_id)}/retry", body=body)


def map_items(run_id: str, step: str) -> Call[None]:
    return items(f"{run_path(run_id, step)}/items")


def complete_callback(token: str, *, result: Any, error: Any) -> Call[Json]:
    return ask("POST", callback_path(token), body=_completion(result, error))


def complete_task(task_id: str, *, result: Any, error: Any) -> Call[Task]:
    return ask("POST", f"{task_path(task_id)}/complete", body=_completion(result, error))


def _completion(result: Any, error: Any) -> Json:
    if error is None:
        return {"result": result}
    if result is not None:
        raise BadArgument("error", "give a result or an error, not both")
    return {"error": {"type": FAILED, "message": error} if isinstance(error, str) else error}
