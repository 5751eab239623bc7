"""A lane: an SQS queue and the event source that calls its executors."""

from collections import deque
from collections.abc import Callable, Sequence

from bench.simulated_aws.limits import Model
from bench.simulated_aws.tally import Tally
from duetime.core.delivery import Delivery
from duetime.core.ports import Depth
from duetime.core.times import MINUTE, SECOND, Millis
from tests.simulation.engine import Engine


class Held:
    """A message in the queue."""

    __slots__ = ("delivery", "receives")

    def __init__(self, delivery: Delivery) -> None:
        self.delivery = delivery
        self.receives = 0


Invoke = Callable[[Sequence[Held]], None]


class Lane:
    """A queue with its event source. `invoke` begins an invocation, which ends with `ended`.
    Messages leave in the order in which they became visible."""

    def __init__(
        self,
        engine: Engine,
        model: Model,
        tally: Tally,
        *,
        at_once: int,
        batch_size: int,
        invoke: Invoke,
        admits: Callable[[], bool],
    ) -> None:
        self._engine = engine
        self._model = model
        self._tally = tally
        self._at_once = at_once
        self._batch_size = batch_size
        self._invoke = invoke
        self._admits = admits  # whether the account has room for one more
        self._ready: deque[Held] = deque()
        self._delayed: dict[Millis, list[Held]] = {}
        self._counted: deque[tuple[Millis, int]] = deque([(0, 0)])
        self._batches = min(model.limits.first_batches, at_once)
        self._peak = 0  # busy batches since the event source last looked
        self._looked_at: Millis = engine.now
        self.busy = 0
        engine.after(SECOND, self._every_second)

    def put(self, held: Held, visible_at: Millis) -> None:
        """Adds a message. Messages that become visible together may be received together."""
        at = max(visible_at, self._engine.now)
        if at not in self._delayed:
            self._delayed[at] = []
            self._engine.at(at, lambda: self._show(at))
        self._delayed[at].append(held)

    def depth(self) -> Depth:
        """Returns the depth of a minute ago, as SQS does."""
        then = self._engine.now - self._model.limits.count_lag
        while len(self._counted) > 1 and self._counted[1][0] <= then:
            self._counted.popleft()
        return Depth(ready=self._counted[0][1], delayed=0, in_flight=0)

    def ended(self) -> None:
        self.busy -= 1
        self.pump()

    def pump(self) -> None:
        while self._ready and self.busy < self._batches and self._admits():
            size = min(self._batch_size, len(self._ready))
            batch = [self._ready.popleft() for _ in range(size)]
            for held in batch:
                held.receives += 1
            self.busy += 1
            self._peak = max(self._peak, self.busy)
            self._tally.counts["sqs"] += 2  # received and deleted
            after = self._model.assumed.poll_ms
            self._engine.after(after, lambda batch=batch: self._invoke(batch))

    def _show(self, at: Millis) -> None:
        self._ready.extend(self._delayed.pop(at))
        self.pump()

    def _every_second(self) -> None:
        now, limits = self._engine.now, self._model.limits
        self._counted.append((now, len(self._ready)))
        if now - self._looked_at >= self._model.assumed.idle_batches_after:
            self._batches = max(self._peak, min(limits.first_batches, self._at_once))
            self._peak, self._looked_at = self.busy, now
        if self._ready and self.busy >= self._batches:
            more = limits.more_batches * SECOND // MINUTE
            self._batches = min(self._batches + more, self._at_once)
        self.pump()
        self._engine.after(SECOND, self._every_second)
