"""enqueue: a stored delivery goes out to its lane. Shared by every role that sends."""

from collections.abc import Sequence

from lambdas.core.delivery import Delivery
from lambdas.core.ports import Ports
from lambdas.core.steps.claim import release


def enqueue(ports: Ports, deliveries: Sequence[Delivery]) -> int:
    """Send, and give back to the scanner what was refused or whose fate is unknown.

    If the sender is cut off before the release, the watch that stands behind every delivery
    brings it back. Returns how many were sent."""
    if not deliveries:
        return 0
    accepted = ports.lanes.send(deliveries, ports.clock.now())
    refused = [d for d, sent in zip(deliveries, accepted, strict=True) if not sent]
    if refused:
        now = ports.clock.now()
        ports.store.apply([release(ports.rules, delivery, now=now) for delivery in refused])
    return len(deliveries) - len(refused)
