"""Where a life is played: users, scanners and executors act, each made anew, and one is cut.

What time brings is not scripted. The stage looks when something can happen next, a message that
can be received or a wake that has come, goes there and lets the one act whose business it is.
So a life goes on by itself after a cut.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from lambdas.api.app import Api
from lambdas.api.http import Request
from lambdas.api.submission import Submission, Submitted, Wanted
from lambdas.core.delivery import REDRIVEN_AFTER
from lambdas.core.lifecycle import Status
from lambdas.core.ports import Ports
from lambdas.core.task import Task
from lambdas.core.times import SECOND, Millis
from lambdas.core.wakes import WakeKind
from lambdas.executor.context import Context
from lambdas.scanner.scanner import Scanner
from tests.cuts.backends import Backend
from tests.cuts.cutting import Cut, Knife, Shell
from tests.cuts.holding import Holding
from tests.factories import a_spec
from tests.world import RULES

T = TypeVar("T")

ENOUGH = 100  # steps: a life that takes more does not end
EXECUTOR = "executor"


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What the target of a task did, when, and for when that was meant."""

    task_id: str
    attempt: int
    at: Millis
    due_at: Millis


class Stage:
    def __init__(self, backend: Backend, knife: Knife, fails: frozenset[int]) -> None:
        self.backend = backend
        self.world = backend.world
        self.world.chance.luck = 0
        self.knife = knife
        self.ids: list[str] = []
        self.effects: list[Effect] = []
        self.cut_actor: str | None = None
        self._fails = fails
        self._holding: Holding | None = None

    # what users do: whoever was cut off does it again

    def submit(self, tasks: int, due_in: Millis = 0, **fields: Any) -> None:
        now = self.world.clock.now()
        if "expires_in" in fields:
            fields["expires_at"] = now + fields.pop("expires_in")
        specs = [
            a_spec(run_at=now + due_in, idempotency_key=f"key-{number}", **fields)
            for number in range(tasks)
        ]
        wanted = [Wanted(spec=spec, body_hash=spec.idempotency_key) for spec in specs]
        submitted = self._insist("submit", lambda ports: Submission(ports).submit(wanted))
        self.ids = [done.task.id for done in submitted if isinstance(done, Submitted)]

    def cancel(self) -> None:
        self._ask("cancel", "DELETE", "/v1/tasks/{}")

    def revive(self) -> None:
        self._ask("revive", "POST", "/v1/tasks/{}/retry")

    def take_letters(self) -> None:
        dead = [task.id for task in self.tasks() if task.status is Status.DEAD]
        self.backend.take_letters(dead)

    def redrive(self, copies: int = 1) -> None:
        """Move the letters back to their lane; whoever does it once may do it twice."""
        self.world.advance(REDRIVEN_AFTER + SECOND)
        for _ in range(copies):
            self.backend.redrive()

    # what time brings

    def live(self, until: Callable[[], bool] = lambda: False) -> None:
        for _ in range(ENOUGH):
            if until() or not self._go_on():
                return
        raise AssertionError("it does not come to an end")

    def all_are(self, status: Status) -> Callable[[], bool]:
        return lambda: all(task.status is status for task in self.tasks())

    def settle(self) -> None:
        """Until nothing is left to do, and nobody is cut."""
        with self.knife.sheathed():
            self.live()

    def tick(self) -> None:
        cursors: Any = Shell(self.world.cursors, self.knife)
        self._act("scanner", lambda ports: Scanner(ports, cursors).tick())

    def execute(self) -> None:
        self.begin()
        self.finish()

    def begin(self) -> None:
        self._holding = self._act(EXECUTOR, lambda ports: self._holder(ports).begin())

    def renew(self) -> None:
        self._go_on_holding(Holding.renew)

    def finish(self) -> None:
        self._go_on_holding(Holding.finish)

    def _go_on_holding(self, step: Callable[[Holding], None]) -> None:
        """Nobody does, if the one that began was cut."""
        if (holding := self._holding) is not None:
            self._try(EXECUTOR, lambda: step(holding))

    def _holder(self, ports: Ports) -> Holding:
        return Holding(ports, self.world, self._run)

    def _go_on(self) -> bool:
        """Go to the next moment at which something can happen; False if there is none."""
        message = self.backend.next_message()
        if message is not None and message <= self.world.clock.now():
            self.execute()
            return True
        wake = self._next_wake()
        moments = [at for at in (message, wake) if at is not None]
        if moments:
            self.world.advance_to(min(moments))
            self.execute() if message == min(moments) else self.tick()
        return bool(moments)

    def _next_wake(self) -> Millis | None:
        wakes = [task.wake for task in self.tasks() if task.wake is not None]
        ahead = {WakeKind.DISPATCH: RULES.horizon, WakeKind.WATCH: 0}
        return min((wake.at - ahead[wake.kind] for wake in wakes), default=None)

    def tasks(self) -> list[Task]:
        found: dict[str, Task] = self.world.store.get(self.ids)
        return list(found.values())

    # who acts

    def _ask(self, actor: str, method: str, path: str) -> None:
        """A request that was made and not answered finds, when repeated, that it has been."""
        for task_id in self.ids:
            request = Request(method=method, path=path.format(task_id))
            cut_before = self.cut_actor
            response = self._insist(actor, lambda ports, asked=request: _api(ports).call(asked))
            repeated = self.cut_actor != cut_before
            assert response.status in ((200, 202, 409) if repeated else (200, 202))

    def _insist(self, actor: str, action: Callable[[Ports], T]) -> T:
        done = self._act(actor, action)
        if done is not None:
            return done
        self.world.advance(SECOND)
        return action(self._ports(actor))

    def _act(self, actor: str, action: Callable[[Ports], T]) -> T | None:
        ports = self._ports(actor)
        return self._try(actor, lambda: action(ports))

    def _try(self, actor: str, action: Callable[[], T]) -> T | None:
        """None if it was cut: all that it held in memory is gone."""
        try:
            return action()
        except Cut:
            self.cut_actor = actor
            if actor == EXECUTOR or self.backend.restarts:
                self._holding = None
            self.backend.fall()
            return None

    def _ports(self, actor: str) -> Ports:
        self.knife.next_actor(actor)
        store: Any = Shell(self.world.store, self.knife)
        schedules: Any = Shell(self.world.schedules, self.knife)
        lanes: Any = Shell(self.world.lanes, self.knife)
        return Ports(
            store=store,
            schedules=schedules,
            lanes=lanes,
            rules=RULES,
            clock=self.world.clock,
            chance=self.world.chance,
        )

    def _run(self, task: Task, context: Context) -> str:
        now = self.world.clock.now()
        effect = Effect(task_id=task.id, attempt=context.attempt, at=now, due_at=task.due_at)
        self.effects.append(effect)
        if context.attempt in self._fails:
            raise ConnectionError("not this time")
        return "done"


def _api(ports: Ports) -> Api:
    return Api(ports, handlers=set, version="0")
