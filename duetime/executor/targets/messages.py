"""The targets `sqs`, `sns` and `eventbridge`: they send the payload as a message.

A string is sent as it is, any other payload as JSON. A FIFO queue or topic drops a repetition
within five minutes, because every attempt sends the task's id as the deduplication id."""

from typing import Any

from duetime.core.arns import parse_arn
from duetime.core.codec import to_json
from duetime.core.service_calls import ServiceCall
from duetime.core.task import Task
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.services import Adapter, Answer, bad_payload
from duetime.handlers.context import Context

TASK_ID, ATTEMPT = "duetime-task-id", "duetime-attempt"  # message attributes
ENTRY_FAILURES_TO_RETRY = {"InternalFailure", "InternalException", "ThrottlingException"}
DOMAINS = {"aws-cn": "amazonaws.com.cn"}  # by partition


def _send_message(task: Task, context: Context) -> ServiceCall:
    target, queue = task.spec.target, parse_arn(task.spec.target["queue"])
    domain = DOMAINS.get(queue.partition, "amazonaws.com")
    parameters: dict[str, Any] = {
        "QueueUrl": f"https://sqs.{queue.region}.{domain}/{queue.account}/{queue.name}",
        "MessageBody": _text(task.spec.payload),
        "MessageAttributes": _attributes(task, context),
        **_ordering(task, context, queue.name),
    }
    if target.get("delay"):
        parameters["DelaySeconds"] = target["delay"]
    return ServiceCall(
        service="sqs", operation="send_message", parameters=parameters, region=queue.region
    )


def _publish(task: Task, context: Context) -> ServiceCall:
    target, topic = task.spec.target, parse_arn(task.spec.target["topic"])
    parameters: dict[str, Any] = {
        "TopicArn": target["topic"],
        "Message": _text(task.spec.payload),
        "MessageAttributes": _attributes(task, context),
        **_ordering(task, context, topic.name),
    }
    if target.get("subject"):
        parameters["Subject"] = target["subject"]
    return ServiceCall(
        service="sns", operation="publish", parameters=parameters, region=topic.region
    )


def _put_events(task: Task, context: Context) -> ServiceCall:
    target = task.spec.target
    detail = {} if task.spec.payload is None else task.spec.payload
    if not isinstance(detail, dict):
        raise bad_payload("must be an object, the detail of the event")
    entry = {
        "EventBusName": target["bus"],
        "Source": target["source"],
        "DetailType": target["detail_type"],
        "Detail": to_json(detail),
        "Resources": [*target.get("resources", ()), f"duetime:task/{context.idempotency_key}"],
    }
    return ServiceCall(
        service="events",
        operation="put_events",
        parameters={"Entries": [entry]},
        region=parse_arn(target["bus"]).region,
    )


def _event_result(_: Task, answer: Answer) -> dict[str, Any]:
    [entry] = answer["Entries"]
    if code := entry.get("ErrorCode"):
        permanent = code not in ENTRY_FAILURES_TO_RETRY
        raise TargetFailed(code, entry.get("ErrorMessage") or code, permanent=permanent)
    return {"event_id": entry["EventId"]}


def _message_result(_: Task, answer: Answer) -> dict[str, Any]:
    result = {"message_id": answer["MessageId"]}
    if number := answer.get("SequenceNumber"):
        result["sequence_number"] = number
    return result


def _text(payload: Any) -> str:
    text = payload if isinstance(payload, str) else to_json(payload)
    if not text:
        raise bad_payload("must not be empty: the service takes no empty message")
    return text


def _attributes(task: Task, context: Context) -> dict[str, Any]:
    ours = {TASK_ID: context.idempotency_key, ATTEMPT: str(context.attempt)}
    given = task.spec.target.get("attributes", {}) | ours
    return {name: {"DataType": "String", "StringValue": text} for name, text in given.items()}


def _ordering(task: Task, context: Context, name: str) -> dict[str, str]:
    """A FIFO queue or topic needs a group and takes a deduplication id; others take a group."""
    group = task.spec.target.get("group")
    ordering = {"MessageGroupId": group} if group else {}
    if name.endswith(".fifo"):
        ordering["MessageDeduplicationId"] = context.idempotency_key
    return ordering


SQS = Adapter(call=_send_message, result=_message_result)
SNS = Adapter(call=_publish, result=_message_result)
EVENTBRIDGE = Adapter(call=_put_events, result=_event_result)
