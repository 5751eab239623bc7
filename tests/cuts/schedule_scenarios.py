"""Lives of schedules: a few runs, and then it is over. Wherever they are cut, each fire time
becomes one task, each task runs once, and the ledger knows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lambdas.core.lifecycle import Status
from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.recurrence.rules import DelayRule, RateRule, Recurrence, Rule
from lambdas.core.schedules import changes
from lambdas.core.schedules.history import Place, history
from lambdas.core.schedules.ledger import Expected
from lambdas.core.schedules.plan import Misfire, MisfirePolicy, Plan
from lambdas.core.schedules.ports import Stands
from lambdas.core.schedules.schedule import Schedule, ScheduleStatus
from lambdas.core.task import Task
from lambdas.core.times import HOUR, MINUTE, SECOND, Millis
from lambdas.debts import pay_named
from tests.cuts.backends import Backend
from tests.cuts.cutting import Knife
from tests.cuts.stage import Stage
from tests.factories import NOW, a_spec
from tests.world import RULES

RELAY = "relay"
RUNS = 2


class RecurringStage(Stage):
    """A stage with one schedule; `ids` are its tasks, as they come into being."""

    def __init__(self, backend: Backend, knife: Knife, fails: frozenset[int]) -> None:
        super().__init__(backend, knife, fails)
        self.schedule_id = ""

    @property
    def schedule(self) -> Schedule:
        found: Schedule = self.world.schedules.get([self.schedule_id])[self.schedule_id]
        return found

    def create(self, plan: Plan) -> None:
        now = self.world.clock.now()
        made = changes.create(RULES, self.world.chance.new_id(now), plan, now)
        (answer,) = self.world.schedules.put([made])
        assert isinstance(answer, Stands)
        self.schedule_id = made.id

    def told(self) -> list[tuple[Millis, Expected, str | None]]:
        world = self.world
        rows = history(
            lambda below, most: world.schedules.ledger(self.schedule_id, below, most), Place()
        )
        return [(one.row.fire_time, one.row.outcome, one.row.task_id) for one in rows][::-1]

    def tasks(self) -> list[Task]:
        """Those that nobody could note as well: they are in the table."""
        with self.knife.sheathed():
            page = self.world.store.page(_all())
        return sorted(page.tasks, key=lambda task: task.id)

    def _go_on(self) -> bool:
        """The relay comes first, as it does: within a second of the end of a run."""
        owing = [task.id for task in self.tasks() if task.owes]
        if owing and owing != self._passed_over:
            self._passed_over = owing
            self._act(RELAY, lambda ports: pay_named(ports, owing))
            return True
        return super()._go_on()

    def _next_wake(self) -> Millis | None:
        wake = self.schedule.wake
        times = [super()._next_wake(), wake.at if wake else None]
        return min((at for at in times if at is not None), default=None)

    _passed_over: list[str] = []  # noqa: RUF012 - replaced, never changed


@dataclass(frozen=True, kw_only=True)
class Recurring:
    rule: Rule
    plan: dict[str, Any] = field(default_factory=dict)
    task: dict[str, Any] = field(default_factory=dict)
    fails: frozenset[int] = frozenset()
    before: Callable[[RecurringStage], None] = lambda stage: None
    skipped: int = 0  # fire times that are passed over, without any cut
    in_order: bool = False  # its runs start in the order of their fire times, wherever it is cut
    dropped: int = 0  # tasks that the misfire policy skips, without any cut
    may_overlap: bool = False  # a run that is cut may hold up the next one, or keep it from running

    def play(self, stage: RecurringStage) -> None:
        patient = Misfire(grace=HOUR)  # whoever is cut off leaves runs that start late
        given = {"max_runs": RUNS, "overlap": OverlapPolicy.ALLOW, "misfire": patient, **self.plan}
        spec = a_spec(run_at=0, **self.task)
        stage.create(Plan(recurrence=Recurrence(rules=(self.rule,)), task=spec, **given))
        self.before(stage)
        stage.live()


def outage(stage: RecurringStage) -> None:
    stage.world.advance(5 * HOUR + 30 * MINUTE)


def late(stage: RecurringStage) -> None:
    """Every run is a task, and none can start in time."""
    with stage.knife.sheathed():
        stage.tick()
    stage.world.advance(3 * MINUTE + 30 * SECOND)


def hold(stage: RecurringStage, life: Recurring) -> None:
    tasks, told = stage.tasks(), stage.told()
    assert stage.schedule.status is ScheduleStatus.FINISHED
    assert len(tasks) == RUNS
    assert sum(task.reason == "misfire" for task in tasks) == life.dropped
    ran = [task for task in tasks if task.reason not in ("overlap", "misfire")]
    assert {task.status for task in ran} <= {Status.SUCCEEDED}
    complete = len(ran) == RUNS - life.dropped
    assert complete or (life.may_overlap and stage.cut_actor is not None)
    if life.in_order:
        started = list(dict.fromkeys(effect.task_id for effect in stage.effects))
        assert started == [task.id for task in ran]
    assert all(task.wake is None for task in tasks)
    fire_times = [task.spec.occurrence.scheduled_for for task in tasks]
    assert len(set(fire_times)) == RUNS
    for task in tasks:
        effects = [e for e in stage.effects if e.task_id == task.id]
        assert len({e.attempt for e in effects}) == len(effects)
        assert all(e.at >= task.spec.occurrence.scheduled_for for e in effects)
    times = [at for at, _, _ in told]
    assert times == sorted(set(times))
    fired = [task_id for _, outcome, task_id in told if outcome is Expected.FIRED]
    assert sorted(map(str, fired)) == [task.id for task in tasks]
    assert len(told) - len(fired) == life.skipped
    assert stage.world.awake() == []
    left = stage.backend.left()
    assert (left.ready, left.delayed) == (0, 0)


def _all() -> Any:
    from lambdas.core.ports import Listing

    return Listing(limit=100)


HOURLY = RateRule(every=HOUR, anchor=NOW)
EACH_MINUTE = RateRule(every=MINUTE, anchor=NOW)
QUEUE = {"overlap": OverlapPolicy.QUEUE}

RECURRING = {
    "rate": Recurring(rule=EACH_MINUTE),
    "rate-one-at-a-time": Recurring(
        rule=EACH_MINUTE, plan={"overlap": OverlapPolicy.SKIP}, may_overlap=True
    ),
    "rate-queued": Recurring(rule=EACH_MINUTE, plan=QUEUE, fails=frozenset({1}), may_overlap=True),
    "delay": Recurring(rule=DelayRule(delay=30 * SECOND)),
    "delay-long": Recurring(rule=DelayRule(delay=20 * MINUTE)),
    "missed-all": Recurring(
        rule=HOURLY, plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ALL)}, before=outage
    ),
    "missed-all-in-order": Recurring(
        rule=HOURLY,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ALL), "overlap": OverlapPolicy.SKIP},
        before=outage,
        in_order=True,
    ),
    "late-all": Recurring(
        rule=EACH_MINUTE,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ALL), "overlap": OverlapPolicy.SKIP},
        before=late,
        in_order=True,
    ),
    "late-once": Recurring(
        rule=EACH_MINUTE,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ONCE), "overlap": OverlapPolicy.SKIP},
        before=late,
        dropped=1,
    ),
    "late-skipped": Recurring(
        rule=EACH_MINUTE,
        plan={"misfire": Misfire(policy=MisfirePolicy.SKIP), "overlap": OverlapPolicy.SKIP},
        before=late,
        dropped=2,
    ),
    "missed-once": Recurring(
        rule=HOURLY,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ONCE)},
        before=outage,
        skipped=4,
    ),
}
