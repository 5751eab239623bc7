"""Schedules in a whole Duetime: made, brought forward, and read."""

from dataclasses import replace
from typing import Any

from lambdas.core.events import status_change
from lambdas.core.recurrence.rules import CronRule, DelayRule, RateRule, Recurrence, Rule
from lambdas.core.schedules import changes
from lambdas.core.schedules.history import Place, history
from lambdas.core.schedules.ledger import Expected
from lambdas.core.schedules.plan import Plan
from lambdas.core.schedules.ports import Stands
from lambdas.core.schedules.schedule import Schedule
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, Millis
from lambdas.debts import follow_up, pay_named
from tests.factories import a_spec
from tests.world import World


def every(length: Millis, world: World) -> RateRule:
    return RateRule(every=length, anchor=world.clock.now())


def after_each(length: Millis) -> DelayRule:
    return DelayRule(delay=length)


def cron(expression: str, timezone: str = "UTC") -> CronRule:
    return CronRule(expression=expression, timezone=timezone)


class Scheduled:
    """One schedule in a world. Its runs are found in its ledger, as users find them."""

    def __init__(self, world: World, rule: Rule, task: dict[str, Any] | None = None, **plan: Any):
        self.world = world
        recurrence = Recurrence(rules=(rule,))
        spec = a_spec(run_at=0, **(task or {}))
        now = world.clock.now()
        made = Plan(**{"recurrence": recurrence, "task": spec, **plan})
        schedule = changes.create(world.rules, world.chance.new_id(now), made, now)
        self.id = schedule.id
        self._relayed: set[str] = set()
        self.replace(schedule)

    @property
    def now(self) -> Schedule:
        found: Schedule = self.world.schedules.get([self.id])[self.id]
        return found

    def replace(self, schedule: Schedule) -> None:
        (answer,) = self.world.schedules.put([schedule])
        assert isinstance(answer, Stands), answer

    # what users do

    def pause(self) -> None:
        self._begin(changes.pause(self.world.rules, self.now, self.world.clock.now(), None))

    def resume(self) -> None:
        self._begin(changes.resume(self.world.rules, self.now, self.world.clock.now()))

    def change(self, **plan: Any) -> None:
        found = self.now
        other = replace(found.plan, **plan)
        self._begin(changes.change(self.world.rules, found, other, self.world.clock.now()))

    def delete(self) -> None:
        self.world.schedules.delete(self.id)

    def backfill(self, start: Millis, until: Millis, **fields: Any) -> None:
        now = self.world.clock.now()
        given = {"overlap": self.now.plan.overlap, "per_minute": 60.0, **fields}
        self.replace(
            changes.backfill(
                self.world.rules, self.now, "fill", start=start, until=until, now=now, **given
            )
        )

    def _begin(self, changed: changes.Changed) -> None:
        self.world.schedules.note(changed.notes, self.world.clock.now())
        self.replace(changed.schedule)

    # what became of it

    def rows(self) -> list[tuple[Millis, Expected, str | None]]:
        """The oldest first."""
        told = history(lambda b, most: self.world.schedules.ledger(self.id, b, most), Place())
        return [(one.row.fire_time, one.row.outcome, one.row.task_id) for one in told][::-1]

    def runs(self) -> list[Task]:
        return [self.world.task(task_id) for _, _, task_id in self.rows() if task_id]

    def pay(self) -> None:
        """As the relay does, when it hears of an end."""
        owing = [task.id for task in self.runs() if task.owes]
        if owing:
            pay_named(self.world.ports, owing)

    def relay(self) -> None:
        """As the relay does, when it hears of every end, once."""
        runs = [task for task in self.runs() if task.id not in self._relayed]
        ended = [task for task in runs if task.status.finished]
        self._relayed |= {task.id for task in ended}
        ends = [status_change(None, task) for task in ended]
        follow_up(self.world.ports, [end for end in ends if end])


def live(scheduled: Scheduled, span: Millis, step: Millis, relay: bool = True) -> None:
    """Let time pass: a tick at every full minute, a delivery and the relay at every step."""
    world = scheduled.world
    end = world.clock.now() + span
    while world.clock.now() < end:
        if world.clock.now() % MINUTE < step:
            world.tick()
        world.advance(step)
        world.deliver()
        if relay:
            scheduled.relay()
            world.deliver()
