"""The lanes as SQS queues: the AWS backend's LaneQueue."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from lambdas.aws.clients import code_of, reached
from lambdas.aws.fan_out import FanOut
from lambdas.aws.messages import ATTRIBUTES, body_of, read_message
from lambdas.core.delivery import Delivery, Message, dead_letter_delays
from lambdas.core.errors import Corrupt, Unavailable
from lambdas.core.lanes import Lane
from lambdas.core.ports import Depth
from lambdas.core.times import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

log = logging.getLogger(__name__)

PER_CALL = 10
LONGEST_DELAY = 900  # seconds
LONGEST_WAIT = 20
LONGEST_VISIBILITY = 11 * 3600  # SQS allows 12 hours, counted from the receiving
AHEAD: Millis = SECOND  # an executor waits out the rest: SQS only counts whole seconds

READY: "QueueAttributeNameType" = "ApproximateNumberOfMessages"
DELAYED: "QueueAttributeNameType" = "ApproximateNumberOfMessagesDelayed"
IN_FLIGHT: "QueueAttributeNameType" = "ApproximateNumberOfMessagesNotVisible"

T = TypeVar("T")
Numbered = tuple[int, Delivery]


class SqsLanes:
    def __init__(
        self, client: "SQSClient", urls: Mapping[Lane, str], *, fan_out: FanOut | None = None
    ) -> None:
        self._client = client
        self._urls = urls
        self._fan_out = fan_out or FanOut()

    def close(self) -> None:
        self._fan_out.close()

    def send(self, deliveries: Sequence[Delivery], now: Millis) -> list[bool]:
        sent = [False] * len(deliveries)
        batches = list(_batches(enumerate(deliveries), lambda numbered: numbered[1].lane))
        for numbers in self._fan_out.each(lambda batch: self._send(*batch, now), batches):
            for number in numbers:
                sent[number] = True
        return sent

    def receive(self, lane: Lane, limit: int, wait: float) -> list[Message]:
        with reached():
            answer = self._client.receive_message(
                QueueUrl=self._urls[lane],
                MaxNumberOfMessages=min(limit, PER_CALL),
                MessageSystemAttributeNames=ATTRIBUTES,
                WaitTimeSeconds=min(ceil(wait), LONGEST_WAIT),
            )
        return list(_readable(answer.get("Messages", []), lane))

    def delete(self, messages: Sequence[Message]) -> None:
        for lane, batch in _batches(messages, _lane):
            self._delete(lane, batch)

    def hand_back(self, message: Message, delay: Millis) -> None:
        self._hide(message, _visibility(delay))

    def hold(self, messages: Sequence[Message], span: Millis) -> None:
        self._hold_each(messages, lambda batch: [span] * len(batch))

    def bury(self, messages: Sequence[Message]) -> None:
        """Back to the queue, a little later each time, until the redrive policy moves them to the
        dead-letter queue, where they know the queue that they came from."""
        self._hold_each(messages, dead_letter_delays)

    def depth(self, lane: Lane) -> Depth:
        with reached():
            answer = self._client.get_queue_attributes(
                QueueUrl=self._urls[lane], AttributeNames=[READY, DELAYED, IN_FLIGHT]
            )
        counts = answer["Attributes"]
        return Depth(
            ready=int(counts[READY]),
            delayed=int(counts[DELAYED]),
            in_flight=int(counts[IN_FLIGHT]),
        )

    def _send(self, lane: Lane, batch: Sequence[Numbered], now: Millis) -> list[int]:
        """The numbers of those that were surely sent."""
        entries: Any = [
            {
                "Id": str(number),
                "MessageBody": body_of(delivery),
                "DelaySeconds": delay_seconds(delivery.visible_at, now),
            }
            for number, delivery in batch
        ]
        try:
            with reached():
                answer = self._client.send_message_batch(QueueUrl=self._urls[lane], Entries=entries)
        except Unavailable:
            log.warning("send failed", exc_info=True, extra={"lane": lane, "count": len(batch)})
            return []
        for failed in answer.get("Failed", []):
            log.warning("delivery refused", extra={"lane": lane, "reason": failed.get("Message")})
        return [int(entry["Id"]) for entry in answer.get("Successful", [])]

    def _delete(self, lane: Lane, messages: Sequence[Message]) -> None:
        """One that stays comes again, finds its token spent, and is deleted then."""
        entries: Any = [
            {"Id": str(number), "ReceiptHandle": message.receipt}
            for number, message in enumerate(messages)
        ]
        with reached():
            answer = self._client.delete_message_batch(QueueUrl=self._urls[lane], Entries=entries)
        for failed in answer.get("Failed", []):
            log.warning("message not deleted", extra={"lane": lane, "reason": failed["Code"]})

    def _hold_each(
        self, messages: Sequence[Message], spans: Callable[[Sequence[Message]], list[Millis]]
    ) -> None:
        self._fan_out.each(
            lambda batch: self._hold(*batch, spans(batch[1])), list(_batches(messages, _lane))
        )

    def _hold(self, lane: Lane, messages: Sequence[Message], spans: Sequence[Millis]) -> None:
        """One that got away comes again, and finds its token spent or its lease held."""
        entries: Any = [
            {
                "Id": str(number),
                "ReceiptHandle": message.receipt,
                "VisibilityTimeout": _visibility(span),
            }
            for number, (message, span) in enumerate(zip(messages, spans, strict=True))
        ]
        with reached():
            answer = self._client.change_message_visibility_batch(
                QueueUrl=self._urls[lane], Entries=entries
            )
        for failed in answer.get("Failed", []):
            _log_not_held(messages[int(failed["Id"])], failed["Code"], failed.get("Message", ""))

    def _hide(self, message: Message, seconds: int) -> None:
        try:
            with reached():
                self._client.change_message_visibility(
                    QueueUrl=self._urls[message.lane],
                    ReceiptHandle=message.receipt,
                    VisibilityTimeout=seconds,
                )
        except ClientError as error:
            if not _is_gone(code_of(error), str(error)):
                raise
            _log_not_held(message, code_of(error), str(error))


def delay_seconds(visible_at: Millis, now: Millis) -> int:
    return min(max((visible_at - now - AHEAD) // SECOND, 0), LONGEST_DELAY)


def _visibility(span: Millis) -> int:
    return min(ceil(span / SECOND), LONGEST_VISIBILITY)


def _batches(values: Iterable[T], lane_of: Callable[[T], Lane]) -> Iterator[tuple[Lane, list[T]]]:
    """As many as one call takes, all of one lane."""
    for lane, group in groupby(sorted(values, key=lane_of), key=lane_of):
        of_lane = list(group)
        for start in range(0, len(of_lane), PER_CALL):
            yield lane, of_lane[start : start + PER_CALL]


def _readable(received: Sequence[Any], lane: Lane) -> Iterator[Message]:
    """One that cannot be read is left alone: received often enough, it goes to the dead-letter
    queue, where somebody can look at it."""
    for raw in received:
        try:
            receipt, attributes = raw["ReceiptHandle"], raw["Attributes"]
            yield read_message(raw["MessageId"], receipt, raw["Body"], attributes, lane)
        except Corrupt:
            log.warning("unreadable", exc_info=True, extra={"message_id": raw["MessageId"]})


def _log_not_held(message: Message, code: str, text: str) -> None:
    level = logging.INFO if _is_gone(code, text) else logging.WARNING
    task_id = message.delivery.task_id
    fields = {"task_id": task_id, "message_id": message.message_id, "reason": text or code}
    log.log(level, "message no longer held", extra=fields)


def _is_gone(code: str, text: str) -> bool:
    """The message is back in its queue, or gone: what was asked for has happened without us."""
    plain = code.rpartition(".")[2]
    return plain in ("MessageNotInflight", "ReceiptHandleIsInvalid") or (
        plain == "InvalidParameterValue" and "ReceiptHandle" in text
    )


def _lane(message: Message) -> Lane:
    return message.lane
