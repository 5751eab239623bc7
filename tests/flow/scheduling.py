"""A schedule in a world: its changes, its ledger and its follow-ups."""

from dataclasses import replace
from typing import Any

from duetime.core.change import Applied
from duetime.core.events import status_change
from duetime.core.recurrence.rules import CronRule, DelayRule, RateRule, Recurrence, Rule
from duetime.core.schedules import changes
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.schedules.ledger_history import Place, history
from duetime.core.schedules.plan import Plan
from duetime.core.schedules.schedule import Schedule
from duetime.core.task import Task
from duetime.core.times import MINUTE, Millis
from duetime.engine.followups import run_follow_ups_after
from tests.factories import a_spec
from tests.follow_ups import run_follow_ups_by_id
from tests.world import World


def every(length: Millis, world: World) -> RateRule:
    return RateRule(every=length, anchor=world.clock.now())


def after_each(length: Millis) -> DelayRule:
    return DelayRule(delay=length)


def cron(expression: str, timezone: str = "UTC") -> CronRule:
    return CronRule(expression=expression, timezone=timezone)


class Scheduled:
    """One schedule in a world. Its runs are read from its ledger, as users read them."""

    def __init__(self, world: World, rule: Rule, task: dict[str, Any] | None = None, **plan: Any):
        self.world = world
        recurrence = Recurrence(rules=(rule,))
        spec = a_spec(run_at=0, **(task or {}))
        now = world.clock.now()
        made = Plan(**{"recurrence": recurrence, "task": spec, **plan})
        schedule = changes.create(world.wake_policy, world.chance.new_id(now), made, now)
        self.id = schedule.id
        self._relayed: set[str] = set()
        self.replace(schedule)

    @property
    def now(self) -> Schedule:
        found: Schedule = self.world.schedules.get([self.id])[self.id]
        return found

    def replace(self, schedule: Schedule) -> None:
        (answer,) = self.world.schedules.put([schedule])
        assert isinstance(answer, Applied), answer

    # users

    def pause(self) -> None:
        self._begin(changes.pause(self.world.wake_policy, self.now, self.world.clock.now(), None))

    def resume(self) -> None:
        self._begin(changes.resume(self.world.wake_policy, self.now, self.world.clock.now()))

    def change(self, **plan: Any) -> None:
        found = self.now
        other = replace(found.plan, **plan)
        self._begin(changes.change(self.world.wake_policy, found, other, self.world.clock.now()))

    def delete(self) -> None:
        self.world.schedules.delete(self.id)

    def backfill(self, start: Millis, until: Millis, **fields: Any) -> None:
        now = self.world.clock.now()
        given = {"overlap": self.now.plan.overlap, "per_minute": 60.0, **fields}
        self.replace(
            changes.backfill(
                self.world.wake_policy, self.now, "fill", start=start, until=until, now=now, **given
            )
        )

    def _begin(self, changed: changes.Changed) -> None:
        self.world.schedules.write_ledger(changed.ledger_entries, self.world.clock.now())
        self.replace(changed.schedule)

    # its ledger and runs

    def rows(self) -> list[tuple[Millis, LedgerOutcome, str | None]]:
        """Returns the rows of the ledger, the oldest first."""
        rows = history(lambda b, most: self.world.schedules.ledger(self.id, b, most), Place())
        return [(one.row.fire_time, one.row.outcome, one.row.task_id) for one in rows][::-1]

    def runs(self) -> list[Task]:
        return [self.world.task(task_id) for _, _, task_id in self.rows() if task_id]

    def run_follow_ups(self) -> None:
        """Runs the follow-ups of all runs, as the relay does after an end."""
        ended = [task.id for task in self.runs() if task.has_follow_up]
        if ended:
            run_follow_ups_by_id(self.world.ports, ended)

    def relay(self) -> None:
        """Passes every end to the follow-ups once, as the relay does."""
        left = [made for _, _, made in self.rows() if made and made not in self._relayed]
        ended = [task for task in map(self.world.task, left) if task.status.finished]
        self._relayed |= {task.id for task in ended}
        ends = [status_change(None, task) for task in ended]
        run_follow_ups_after(self.world.ports, [end for end in ends if end])


def live(scheduled: Scheduled, span: Millis, step: Millis, relay: bool = True) -> None:
    """Lets time pass: a tick at every full minute, a delivery and the relay at every step."""
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
