"""The body of an SQS message: a delivery as JSON."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duetime.core import codec
from duetime.core.delivery import Delivery, Limits, Message
from duetime.core.errors import UNREADABLE, Corrupt
from duetime.core.lanes import Lane, Queue
from duetime.core.step_ref import decode_step_ref, encode_step_ref

if TYPE_CHECKING:
    from mypy_boto3_sqs.literals import MessageSystemAttributeNameType

# The attributes that a receive must ask for, beside the body.
ATTRIBUTES: "tuple[MessageSystemAttributeNameType, ...]" = (
    "SentTimestamp",
    "ApproximateReceiveCount",
)


def body_of(delivery: Delivery) -> str:
    body: dict[str, Any] = {
        "task_id": delivery.task_id,
        "token": delivery.token,
        "attempt": delivery.attempt,
        "lane": delivery.lane,
        "written_at": delivery.written_at,
        "timeout": delivery.timeout,
    }
    if delivery.pool is not None:
        body["pool"] = delivery.pool
    if delivery.occurrence:
        body["occurrence"] = codec.encode_occurrence(delivery.occurrence)
    if delivery.not_before:  # the delay of a message is in whole seconds, and ends early
        body["not_before"] = delivery.not_before
    if delivery.limits:
        body["limits"] = _limits_body(delivery.limits)
    if delivery.step:
        body["step"] = encode_step_ref(delivery.step)
    return codec.to_json(body)


def read_message(
    message_id: str,
    receipt: str,
    body: str,
    attributes: Mapping[str, str],
    source: Queue | None = None,
) -> Message:
    """Reads a message; `source` is the queue that returned it. Raises Corrupt."""
    try:
        delivery = _read(codec.from_json(body))
        delivery.due_at  # noqa: B018 - raises if the token does not begin with a due time
        sent_at, receives = (int(attributes[name]) for name in ATTRIBUTES)
    except UNREADABLE as error:
        raise Corrupt(f"message {message_id}", repr(error)) from error
    return Message(
        delivery=delivery,
        receipt=receipt,
        message_id=message_id,
        sent_at=sent_at,
        receives=receives,
        source=source,
    )


def _read(body: Mapping[str, Any]) -> Delivery:
    return Delivery(
        task_id=str(body["task_id"]),
        token=str(body["token"]),
        attempt=int(body["attempt"]),
        lane=Lane(body["lane"]),
        written_at=int(body["written_at"]),
        timeout=float(body["timeout"]),
        pool=body.get("pool"),
        not_before=int(body.get("not_before", 0)),
        occurrence=codec.decode_occurrence(body["occurrence"]) if "occurrence" in body else None,
        limits=_read_limits(body["limits"]) if "limits" in body else None,
        step=decode_step_ref(body["step"]) if "step" in body else None,
    )


def _limits_body(limits: Limits) -> dict[str, Any]:
    body: dict[str, Any] = {"namespace": limits.namespace}
    if limits.uses:
        body["uses"] = codec.encode_limits(limits.uses)
    if limits.ordering_key is not None:
        body["ordering_key"] = limits.ordering_key
        body["order_at"] = limits.order_at
    if limits.grant is not None:
        body["grant"] = limits.grant
    return body


def _read_limits(body: Mapping[str, Any]) -> Limits:
    return Limits(
        namespace=str(body["namespace"]),
        uses=codec.decode_limits(body.get("uses", ())),
        ordering_key=body.get("ordering_key"),
        order_at=body.get("order_at"),
        grant=body.get("grant"),
    )
