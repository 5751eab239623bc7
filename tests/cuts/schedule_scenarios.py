"""Whole lives of schedules with two runs each. With any cut, each fire time becomes one task, each
task runs once, and the ledger lists it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from duetime.core.change import Applied
from duetime.core.lifecycle import Status
from duetime.core.occurrence import OverlapPolicy
from duetime.core.recurrence.rules import DelayRule, RateRule, Recurrence, Rule
from duetime.core.schedules import changes
from duetime.core.schedules.ledger import LedgerOutcome
from duetime.core.schedules.ledger_history import Place, history
from duetime.core.schedules.plan import Misfire, MisfirePolicy, Plan
from duetime.core.schedules.schedule import Schedule, ScheduleStatus
from duetime.core.task import Task
from duetime.core.times import HOUR, MINUTE, SECOND, Millis
from tests.cuts.backends import Backend
from tests.cuts.cut_points import Cutter
from tests.cuts.scenario_player import ScenarioPlayer
from tests.factories import NOW, a_spec
from tests.follow_ups import run_follow_ups_by_id
from tests.world import WAKE_POLICY

RELAY = "relay"
RUNS = 2


class SchedulePlayer(ScenarioPlayer):
    """Plays a scenario of one schedule."""

    def __init__(self, backend: Backend, cutter: Cutter, fails: frozenset[int]) -> None:
        super().__init__(backend, cutter, fails)
        self.schedule_id = ""

    @property
    def schedule(self) -> Schedule:
        found: Schedule = self.world.schedules.get([self.schedule_id])[self.schedule_id]
        return found

    def create(self, plan: Plan) -> None:
        now = self.world.clock.now()
        made = changes.create(WAKE_POLICY, self.world.chance.new_id(now), plan, now)
        (answer,) = self.world.schedules.put([made])
        assert isinstance(answer, Applied)
        self.schedule_id = made.id

    def ledger(self) -> list[tuple[Millis, LedgerOutcome, str | None]]:
        world = self.world
        rows = history(
            lambda below, most: world.schedules.ledger(self.schedule_id, below, most), Place()
        )
        return [(one.row.fire_time, one.row.outcome, one.row.task_id) for one in rows][::-1]

    def tasks(self) -> list[Task]:
        """Returns every task in the table, also those that the ledger does not list."""
        with self.cutter.paused():
            page = self.world.store.page(_everything())
        return sorted(page.tasks, key=lambda task: task.id)

    def _step(self) -> bool:
        """Runs the relay first: it comes within a second of the end of a run."""
        ended = [task.id for task in self.tasks() if task.has_follow_up]
        if ended and ended != self._relayed:
            self._relayed = ended
            self._act(RELAY, lambda ports: run_follow_ups_by_id(ports, ended))
            return True
        return super()._step()

    def next_wake(self) -> Millis | None:
        wake = self.schedule.wake
        times = [super().next_wake(), wake.at if wake else None]
        return min((at for at in times if at is not None), default=None)

    _relayed: list[str] = []  # noqa: RUF012 - replaced, never changed


@dataclass(frozen=True, kw_only=True)
class ScheduleScenario:
    rule: Rule
    plan: dict[str, Any] = field(default_factory=dict)
    task: dict[str, Any] = field(default_factory=dict)
    fails: frozenset[int] = frozenset()
    before: Callable[[SchedulePlayer], None] = lambda player: None
    skipped: int = 0  # fire times that are skipped without a cut
    in_order: bool = False  # its runs start in the order of their fire times, with any cut
    dropped: int = 0  # tasks that the misfire policy skips without a cut
    may_overlap: bool = False  # a run that is cut may delay the next run, or replace it

    def play(self, player: SchedulePlayer) -> None:
        patient = Misfire(grace=HOUR)  # runs start late after a cut
        given = {"max_runs": RUNS, "overlap": OverlapPolicy.ALLOW, "misfire": patient, **self.plan}
        spec = a_spec(run_at=0, **self.task)
        player.create(Plan(recurrence=Recurrence(rules=(self.rule,)), task=spec, **given))
        self.before(player)
        player.run()


def outage(player: SchedulePlayer) -> None:
    player.world.advance(5 * HOUR + 30 * MINUTE)


def late(player: SchedulePlayer) -> None:
    """Puts every run as a task, and then starts none of them in time."""
    with player.cutter.paused():
        player.tick()
    player.world.advance(3 * MINUTE + 30 * SECOND)


def check(player: SchedulePlayer, scenario: ScheduleScenario) -> None:
    tasks, ledger = player.tasks(), player.ledger()
    assert player.schedule.status is ScheduleStatus.FINISHED
    assert len(tasks) == RUNS
    assert sum(task.reason == "misfire" for task in tasks) == scenario.dropped
    ran = [task for task in tasks if task.reason not in ("overlap", "misfire")]
    assert {task.status for task in ran} <= {Status.SUCCEEDED}
    complete = len(ran) == RUNS - scenario.dropped
    assert complete or (scenario.may_overlap and player.cut_actor is not None)
    if scenario.in_order:
        started = list(dict.fromkeys(effect.task_id for effect in player.effects))
        assert started == [task.id for task in ran]
    assert all(task.wake is None for task in tasks)
    fire_times = [task.spec.occurrence.scheduled_for for task in tasks]
    assert len(set(fire_times)) == RUNS
    for task in tasks:
        effects = [e for e in player.effects if e.task_id == task.id]
        assert len({e.attempt for e in effects}) == len(effects)
        assert all(e.at >= task.spec.occurrence.scheduled_for for e in effects)
    times = [at for at, _, _ in ledger]
    assert times == sorted(set(times))
    fired = [task_id for _, outcome, task_id in ledger if outcome is LedgerOutcome.FIRED]
    assert sorted(map(str, fired)) == [task.id for task in tasks]
    assert len(ledger) - len(fired) == scenario.skipped
    assert player.world.awake() == []
    left = player.backend.left()
    assert (left.ready, left.delayed) == (0, 0)


def _everything() -> Any:
    from duetime.core.listings import Listing

    return Listing(limit=100)


HOURLY = RateRule(every=HOUR, anchor=NOW)
EACH_MINUTE = RateRule(every=MINUTE, anchor=NOW)
QUEUE = {"overlap": OverlapPolicy.QUEUE}

SCHEDULE_SCENARIOS = {
    "rate": ScheduleScenario(rule=EACH_MINUTE),
    "rate-one-at-a-time": ScheduleScenario(
        rule=EACH_MINUTE, plan={"overlap": OverlapPolicy.SKIP}, may_overlap=True
    ),
    "rate-queued": ScheduleScenario(
        rule=EACH_MINUTE, plan=QUEUE, fails=frozenset({1}), may_overlap=True
    ),
    "delay": ScheduleScenario(rule=DelayRule(delay=30 * SECOND)),
    "delay-long": ScheduleScenario(rule=DelayRule(delay=20 * MINUTE)),
    "missed-all": ScheduleScenario(
        rule=HOURLY, plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ALL)}, before=outage
    ),
    "missed-all-in-order": ScheduleScenario(
        rule=HOURLY,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ALL), "overlap": OverlapPolicy.SKIP},
        before=outage,
        in_order=True,
    ),
    "late-all": ScheduleScenario(
        rule=EACH_MINUTE,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ALL), "overlap": OverlapPolicy.SKIP},
        before=late,
        in_order=True,
    ),
    "late-once": ScheduleScenario(
        rule=EACH_MINUTE,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ONCE), "overlap": OverlapPolicy.SKIP},
        before=late,
        dropped=1,
    ),
    "late-skipped": ScheduleScenario(
        rule=EACH_MINUTE,
        plan={"misfire": Misfire(policy=MisfirePolicy.SKIP), "overlap": OverlapPolicy.SKIP},
        before=late,
        dropped=2,
    ),
    "missed-once": ScheduleScenario(
        rule=HOURLY,
        plan={"misfire": Misfire(policy=MisfirePolicy.RUN_ONCE)},
        before=outage,
        skipped=4,
    ),
}
