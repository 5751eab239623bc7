"""The lanes as SQS queues: the AWS backend's LaneQueue."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from duetime.aws.clients import error_code, translate_errors
from duetime.aws.message_codec import ATTRIBUTES, body_of, read_message
from duetime.aws.parallel import ParallelCalls
from duetime.core.delivery import Delivery, Message, dead_letter_delays
from duetime.core.errors import Corrupt, Unavailable
from duetime.core.lanes import Queue
from duetime.core.ports import Depth
from duetime.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

log = logging.getLogger(__name__)

MESSAGES_PER_CALL = 10
MAX_DELAY = 900  # seconds, as the following two
MAX_WAIT = 20
MAX_GROUP = 128  # characters
MAX_VISIBILITY = 11 * 3600  # SQS allows 12 hours, counted from the receive
HEAD_START: Millis = SECOND  # SQS counts whole seconds; an executor waits for the rest

READY: "QueueAttributeNameType" = "ApproximateNumberOfMessages"
DELAYED: "QueueAttributeNameType" = "ApproximateNumberOfMessagesDelayed"
IN_FLIGHT: "QueueAttributeNameType" = "ApproximateNumberOfMessagesNotVisible"

T = TypeVar("T")
Numbered = tuple[int, Delivery]


class SqsLaneQueue:
    def __init__(
        self,
        client: "SQSClient",
        urls: Mapping[Queue, str],
        *,
        parallel: ParallelCalls | None = None,
    ) -> None:
        self._client = client
        self._urls = urls
        self._parallel = parallel or ParallelCalls()

    def close(self) -> None:
        self._parallel.close()

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        sent = [False] * len(deliveries)
        batches = list(_batches(enumerate(deliveries), lambda numbered: numbered[1].queue))
        for numbers in self._parallel.each(lambda batch: self._send(*batch, now), batches):
            for number in numbers:
                sent[number] = True
        return sent

    def receive(self, queue: Queue, limit: int, wait: float) -> list[Message]:
        with translate_errors():
            answer = self._client.receive_message(
                QueueUrl=self._urls[queue],
                MaxNumberOfMessages=min(limit, MESSAGES_PER_CALL),
                MessageSystemAttributeNames=ATTRIBUTES,
                WaitTimeSeconds=min(ceil(wait), MAX_WAIT),
            )
        return list(_readable(answer.get("Messages", []), queue))

    def delete(self, messages: Sequence[Message]) -> None:
        for queue, batch in _batches(messages, _queue):
            self._delete(queue, batch)

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._set_visibility(message, _visibility(delay))

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self._hold_each(messages, lambda batch: [span] * len(batch))

    def bury(self, messages: Sequence[Message]) -> None:
        """Returns the messages to the queue, each time a little later, until the redrive policy
        moves them to the dead-letter queue. SQS can redrive them from there, because it knows
        which queue they came from."""
        self._hold_each(messages, dead_letter_delays)

    def depth(self, queue: Queue) -> Depth:
        with translate_errors():
            answer = self._client.get_queue_attributes(
                QueueUrl=self._urls[queue], AttributeNames=[READY, DELAYED, IN_FLIGHT]
            )
        counts = answer["Attributes"]
        return Depth(
            ready=int(counts[READY]),
            delayed=int(counts[DELAYED]),
            in_flight=int(counts[IN_FLIGHT]),
        )

    def _send(self, queue: Queue, batch: Sequence[Numbered], now: Millis) -> list[int]:
        """Returns the numbers of the deliveries that SQS has accepted."""
        entries: Any = [
            {
                "Id": str(number),
                "MessageBody": body_of(delivery),
                "DelaySeconds": delay_seconds(delivery.visible_at, now),
                **_group(delivery),
            }
            for number, delivery in batch
        ]
        try:
            with translate_errors():
                answer = self._client.send_message_batch(
                    QueueUrl=self._urls[queue], Entries=entries
                )
        except Unavailable:
            fields = {"step": "enqueue", "lane": str(queue), "count": len(batch)}
            log.warning("deliveries not sent", exc_info=True, extra=fields)
            return []
        for failed in answer.get("Failed", []):
            fields = {"step": "enqueue", "lane": str(queue), "reason": failed.get("Message")}
            log.warning("delivery refused", extra=fields)
        return [int(entry["Id"]) for entry in answer.get("Successful", [])]

    def _delete(self, queue: Queue, messages: Sequence[Message]) -> None:
        """A message that stays is received again and deleted then, because its token is spent."""
        entries: Any = [
            {"Id": str(number), "ReceiptHandle": message.receipt}
            for number, message in enumerate(messages)
        ]
        with translate_errors():
            answer = self._client.delete_message_batch(QueueUrl=self._urls[queue], Entries=entries)
        for failed in answer.get("Failed", []):
            message = messages[int(failed["Id"])]
            ids = {"task_id": message.delivery.task_id, "message_id": message.message_id}
            fields = {"step": "record", "lane": str(queue), "reason": failed["Code"], **ids}
            log.warning("message not deleted", extra=fields)

    def _hold_each(
        self, messages: Sequence[Message], spans: Callable[[Sequence[Message]], list[Millis]]
    ) -> None:
        self._parallel.each(
            lambda batch: self._hold(*batch, spans(batch[1])), list(_batches(messages, _queue))
        )

    def _hold(self, queue: Queue, messages: Sequence[Message], spans: Sequence[Millis]) -> None:
        """A message that is not held is received again: its token is spent, or its lease held."""
        entries: Any = [
            {
                "Id": str(number),
                "ReceiptHandle": message.receipt,
                "VisibilityTimeout": _visibility(span),
            }
            for number, (message, span) in enumerate(zip(messages, spans, strict=True))
        ]
        with translate_errors():
            answer = self._client.change_message_visibility_batch(
                QueueUrl=self._urls[queue], Entries=entries
            )
        for failed in answer.get("Failed", []):
            _log_not_held(messages[int(failed["Id"])], failed["Code"], failed.get("Message", ""))

    def _set_visibility(self, message: Message, seconds: int) -> None:
        try:
            with translate_errors():
                self._client.change_message_visibility(
                    QueueUrl=self._urls[message.queue],
                    ReceiptHandle=message.receipt,
                    VisibilityTimeout=seconds,
                )
        except ClientError as error:
            if not _is_gone(error_code(error), str(error)):
                raise
            _log_not_held(message, error_code(error), str(error))


def delay_seconds(visible_at: Millis, now: Millis) -> int:
    return min(max((visible_at - now - HEAD_START) // SECOND, 0), MAX_DELAY)


def _group(delivery: Delivery) -> dict[str, str]:
    """Returns the group of a message. A standard queue with groups is a fair queue: while one group
    has a backlog, the messages of the others come first. SQS takes 128 ASCII letters, digits and
    punctuation marks; anything else is hashed."""
    group = delivery.group
    if not group:
        return {}
    fits = len(group) <= MAX_GROUP and group.isascii() and group.isprintable() and " " not in group
    return {"MessageGroupId": group if fits else sha256(group.encode()).hexdigest()}


def _visibility(span: Millis) -> int:
    return min(ceil(span / SECOND), MAX_VISIBILITY)


def _batches(
    values: Iterable[T], queue_of: Callable[[T], Queue]
) -> Iterator[tuple[Queue, list[T]]]:
    """Groups values by queue, at most as many as one call takes."""
    ordered = sorted(values, key=lambda value: str(queue_of(value)))
    for queue, group in groupby(ordered, key=queue_of):
        of_queue = list(group)
        for start in range(0, len(of_queue), MESSAGES_PER_CALL):
            yield queue, of_queue[start : start + MESSAGES_PER_CALL]


def _readable(received: Sequence[Any], queue: Queue) -> Iterator[Message]:
    """Skips messages that cannot be read. After enough receives, SQS moves such a message to the
    dead-letter queue, where an operator can look at it."""
    for raw in received:
        try:
            receipt, attributes = raw["ReceiptHandle"], raw["Attributes"]
            yield read_message(raw["MessageId"], receipt, raw["Body"], attributes, queue)
        except Corrupt:
            fields = {"step": "lease", "lane": str(queue), "message_id": raw["MessageId"]}
            log.warning("message skipped: unreadable", exc_info=True, extra=fields)


def _log_not_held(message: Message, code: str, text: str) -> None:
    level = logging.INFO if _is_gone(code, text) else logging.WARNING
    ids = {"task_id": message.delivery.task_id, "message_id": message.message_id}
    fields = {"step": "renew", "reason": text or code, **ids}
    log.log(level, "message not held", extra=fields)


def _is_gone(code: str, text: str) -> bool:
    """Whether the message is back in its queue or deleted, so that there is nothing left to do."""
    plain = code.rpartition(".")[2]
    return plain in ("MessageNotInflight", "ReceiptHandleIsInvalid") or (
        plain == "InvalidParameterValue" and "ReceiptHandle" in text
    )


def _queue(message: Message) -> Queue:
    return message.queue
