"""The gates in front of a lease, in their order.

A task that a gate holds back is not leased, so waiting uses no attempt. The gate acknowledges its
message; the task gets a new one when it may start.
"""

from collections.abc import Sequence
from functools import partial

from duetime.core.delivery import Message
from duetime.core.ports import Ports
from duetime.core.value import value
from duetime.engine.lines import free_slots
from duetime.executor.message_acks import MessageAcks
from duetime.executor.order_gate import OrderGate
from duetime.executor.overlap_gate import OverlapGate
from duetime.executor.rate_gate import RateGate
from duetime.executor.runs import Admitted
from duetime.executor.slot_gate import SlotGate


@value(frozen=True, kw_only=True, slots=True)
class Passed:
    due: list[Admitted]  # may be leased now
    waiting: Sequence[Message] = ()  # may be leased in a moment, at their `visible_at`


def pass_gates(ports: Ports, acks: MessageAcks, due: list[Admitted]) -> Passed:
    """A task that waits holds nothing but its place, and the slot of its ordering key: the gate of
    the rate limits comes last, and frees the slots of tasks that it holds back."""
    if any(admitted.message.delivery.step for admitted in due):
        from duetime.executor.run_gate import RunGate

        due = RunGate(ports, acks).admit(due)
    if ports.slots and any(_is_ordered(admitted) for admitted in due):
        due = OrderGate(ports, acks).admit(due)
    if any(admitted.message.delivery.occurrence for admitted in due):
        due = OverlapGate(ports, acks).admit(due)
    if not any(_uses(admitted) for admitted in due):
        return Passed(due=due)
    if ports.slots:
        due = SlotGate(ports, acks).admit(due)
    due, waiting = RateGate(ports, acks, partial(free_slots, ports)).admit(due)
    return Passed(due=due, waiting=waiting)


def _is_ordered(admitted: Admitted) -> bool:
    limits = admitted.message.delivery.limits
    return limits is not None and limits.ordering_key is not None


def _uses(admitted: Admitted) -> bool:
    limits = admitted.message.delivery.limits
    return limits is not None and bool(limits.uses)
