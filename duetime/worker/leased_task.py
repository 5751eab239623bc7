"""A lease as the runner answers it, as the task and the message that the attempt loop needs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duetime.core.delivery import Message, delivery_of, new_token
from duetime.core.field_values import moment
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.occurrence import Occurrence
from duetime.core.task import Attempt, Spec, Task
from duetime.core.times import Millis
from duetime.core.value import replace, value
from duetime.handlers.context import Previous


@value(frozen=True, kw_only=True, slots=True)
class Lease:
    """`leased_at` is by the monotonic clock: not later than the runner has leased the task."""

    task: Task
    message: Message
    previous: Previous | None
    leased_at: Millis


def read_lease(given: Mapping[str, Any], leased_at: Millis) -> Lease:
    task = _task(given)
    delivery = replace(delivery_of(task, task.due_at), attempt=task.attempt)
    holder = given["holder"]
    message = Message(delivery=delivery, receipt=holder, message_id=holder, sent_at=task.due_at)
    return Lease(
        task=task, message=message, previous=_previous(given["previous"]), leased_at=leased_at
    )


def _task(given: Mapping[str, Any]) -> Task:
    task = given["task"]
    started_at = moment(task["started_at"])
    due_at = moment(task["due_at"])
    attempt = Attempt(number=given["attempt"], started_at=started_at, drift_ms=task["drift_ms"])
    spec = Spec(
        target=task["target"],
        run_at=moment(task["run_at"]),
        payload=task["payload"],
        priority=Lane(task["priority"]),
        timeout=task["timeout"],
        name=task["name"],
        namespace=task["namespace"],
        tags=task["tags"],
        occurrence=_occurrence(task, given["schedule_name"]),
        parent_id=task["parent_id"],
    )
    return Task(
        id=task["id"],
        spec=spec,
        status=Status.RUNNING,
        token=new_token(0, given["holder"]),  # due by any clock: the runner has leased it
        due_at=due_at,
        wake=None,
        created_at=moment(task["created_at"]),
        updated_at=moment(task["updated_at"]),
        budget=given["attempt"],
        attempt=given["attempt"],
        lease_until=moment(given["lease_until"]),
        holder=given["holder"],
        current=attempt,
    )


def _occurrence(task: Mapping[str, Any], name: str | None) -> Occurrence | None:
    if task["schedule_id"] is None:
        return None
    return Occurrence(
        schedule_id=task["schedule_id"],
        scheduled_for=moment(task["scheduled_for"]),
        version=None,
        name=name,
    )


def _previous(given: Mapping[str, Any] | None) -> Previous | None:
    if given is None:
        return None
    return Previous(
        task_id=given["task_id"],
        status=given["status"],
        result=given["result"],
        scheduled_for=datetime.fromisoformat(given["scheduled_for"]),
    )
