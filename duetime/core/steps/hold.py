"""hold: a task that is due waits for a place under a limit, without a message."""

from duetime.core.change import Change, Expect
from duetime.core.delivery import Delivery
from duetime.core.lifecycle import Step, sources
from duetime.core.times import Millis


def hold(delivery: Delivery, held: int, *, now: Millis) -> Change:
    """Notes what the task waits for; `held` is the number of the limit among those of the task, or
    ORDERING_KEY. The lease expects the same as this write, so of the two the first wins, and a
    delivery that may not wait may not start either. The token stays, so a copy of the message may
    still start the task once it has its place. The watch stays too: the first one that finds the
    task in its line moves an hour ahead (see watch.check_held)."""
    return Change(
        step=Step.HOLD,
        task_id=delivery.task_id,
        expect=Expect(
            statuses=sources(Step.HOLD), token=delivery.token, attempt=delivery.attempt - 1
        ),
        sets={"held": held, "updated_at": now},
    )
