"""The gates in front of a lease, in their order.

A task that a gate holds back is not leased, so waiting uses no attempt. The gate acknowledges its
message; the task gets a new one when it may start.
"""

from duetime.core.ports import Ports
from duetime.executor.message_acks import MessageAcks
from duetime.executor.overlap_gate import OverlapGate
from duetime.executor.runs import Admitted


def pass_gates(ports: Ports, acks: MessageAcks, due: list[Admitted]) -> list[Admitted]:
    """Returns what may be leased."""
    if ports.slots and any(_is_ordered(admitted) for admitted in due):
        from duetime.executor.order_gate import OrderGate

        due = OrderGate(ports, acks).admit(due)
    if any(admitted.message.delivery.occurrence for admitted in due):
        due = OverlapGate(ports, acks).admit(due)
    if ports.slots and any(_uses(admitted) for admitted in due):
        from duetime.executor.slot_gate import SlotGate

        due = SlotGate(ports, acks).admit(due)
    return due


def _is_ordered(admitted: Admitted) -> bool:
    limits = admitted.message.delivery.limits
    return limits is not None and limits.ordering_key is not None


def _uses(admitted: Admitted) -> bool:
    limits = admitted.message.delivery.limits
    return limits is not None and bool(limits.uses)
