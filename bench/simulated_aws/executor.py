"""The executors of one lane: sandboxes that lease, call and record a batch."""

from collections.abc import Callable, Sequence

from bench.simulated_aws.lane import Held
from bench.simulated_aws.limits import Model
from bench.simulated_aws.table import Table
from bench.simulated_aws.tally import Tally
from duetime.core.change import Applied
from duetime.core.delivery import dead_letter_delay
from duetime.core.lanes import MAX_RECEIVES
from duetime.core.lifecycle import Outcome, Step
from duetime.core.steps.lease import lease
from duetime.core.steps.record import Failure, fail, leaves_delivery
from duetime.core.task import Task, TaskError
from duetime.core.times import Millis, seconds
from duetime.core.wake_policy import WakePolicy
from tests.factories import SeededRandom
from tests.simulation.engine import Engine

DYING = "dying"  # the name of tasks whose target does not answer
TIMED_OUT = Failure(
    outcome=Outcome.TIMED_OUT, error=TaskError(type="TimedOut", message="no answer")
)


class Executors:
    """The sandboxes of a lane. A batch is planned when it arrives: each message is leased when it
    is due and the CPU is free, its target is called, its outcome is recorded. The batch ends with
    its last task. Leases are not renewed, so no target may take as long as a lease.

    `send` enqueues the retry of a task; `put_back` makes a message visible again at a time."""

    def __init__(
        self,
        engine: Engine,
        model: Model,
        tally: Tally,
        table: Table,
        rules: WakePolicy,
        chance: SeededRandom,
        *,
        memory: int,
    ) -> None:
        self._engine = engine
        self._model = model
        self._tally = tally
        self._table = table
        self._rules = rules
        self._chance = chance
        self._memory = memory
        self._share = model.share(memory)
        self._idle: list[Millis] = []  # idle since; the latest is used first
        self._letters: set[Held] = set()
        self.send: Callable[[Task], None]
        self.put_back: Callable[[Held, Millis], None]
        self.ended: Callable[[], None]

    def invoke(self, messages: Sequence[Held]) -> None:
        begun = self._engine.now
        alive = [held for held in messages if not self._puts_letter_back(held)]
        ready = begun + self._start(len(alive))
        free, runs = ready, []
        for held in sorted(alive, key=lambda held: held.delivery.due_at):
            free = max(free, held.delivery.due_at) + self._cpu(self._model.assumed.write_cpu)
            if (started := self._lease(held, round(free))) is not None:
                runs.append((held, *started))
        ends = float(free)
        for held, task, at in sorted(runs, key=lambda run: run[2] + self._takes(run[1])):
            over = at + self._takes(task)
            free = max(free, over) + self._cpu(self._model.assumed.write_cpu)
            ends = max(ends, free + self._model.assumed.table_ms)
            self._engine.at(round(ends), lambda h=held, t=task: self._record(h, t))
        self._engine.at(round(ends), lambda: self._end(begun))

    def _start(self, messages: int) -> float:
        """Returns the time until the batch begins. A cold sandbox opens its connections first."""
        assumed, now = self._model.assumed, self._engine.now
        cpu = self._cpu(assumed.invocation_cpu)
        while self._idle and now - self._idle[0] > assumed.sandbox_kept:
            self._idle.pop(0)
        if self._idle:
            self._idle.pop()
            return cpu
        self._tally.counts["cold starts"] += 1
        opened = min(messages, assumed.connections) * self._cpu(assumed.tls_cpu)
        return assumed.cold_start + cpu + opened

    def _lease(self, held: Held, at: Millis) -> tuple[Task, Millis] | None:
        change = lease(held.delivery, now=at, holder=self._chance.nonce())
        delayed = self._table.delay(change, at)
        match self._table.apply(change):
            case Applied(task):
                started = at + self._model.assumed.table_ms + round(delayed)
                group = task.spec.name or ""
                if task.attempt == 1:
                    self._tally.add_start(group, started, started - task.spec.run_at)
                return task, started
        return None

    def _takes(self, task: Task) -> float:
        span = seconds(task.spec.timeout) if _is_dying(task) else self._model.assumed.handler_ms
        return self._cpu(self._model.assumed.call_cpu) + span

    def _record(self, held: Held, task: Task) -> None:
        group, now = task.spec.name or "", self._engine.now
        if not _is_dying(task):
            self._table.end(self._table.tasks[task.id])
            self._tally.succeeded[group] += 1
            return
        change = fail(self._rules, task, TIMED_OUT, now=now, draw=self._chance.draw())
        answer = self._table.apply(change)
        if not isinstance(answer, Applied):
            return
        if change.step is Step.BURY:
            self._table.end(answer.stored)
            self._tally.dead[group] += 1
            self._letters.add(held)
            self._puts_letter_back(held)
        elif leaves_delivery(change):
            self.send(answer.stored)

    def _puts_letter_back(self, held: Held) -> bool:
        """Returns whether the message is a dead letter. If so, it goes back to the queue, which
        moves it to the dead-letter queue after its last receive."""
        if held not in self._letters:
            return False
        if held.receives < MAX_RECEIVES:
            hidden = round(dead_letter_delay(held.receives) * (0.5 + self._chance.draw().luck))
            self.put_back(held, self._engine.now + hidden)
        else:
            self._letters.remove(held)
        return True

    def _end(self, begun: Millis) -> None:
        self._idle.append(self._engine.now)
        self._tally.add_invocation(self._memory, self._engine.now - begun)
        self.ended()

    def _cpu(self, span: float) -> float:
        return span / self._share


def _is_dying(task: Task) -> bool:
    return task.spec.name == DYING
