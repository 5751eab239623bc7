"""Tasks that an HTTP worker runs, with every cut of the runner: before and after each call to the
store while it leases, renews, records, or looks at the leases. The worker repeats its calls.

`sqlite`: one thread of the runner dies. `restarted`: the runner dies, and another one opens the
file. Some scenarios restart the runner without a cut, too.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

from duetime.core.lanes import Lane
from duetime.core.lifecycle import Outcome
from duetime.core.shares import DEFAULT_WEIGHTS
from duetime.core.steps.lease import LENGTH
from duetime.core.steps.record import INTERRUPTED, Failure
from duetime.core.task import TaskError
from duetime.core.times import CLOCK_SKEW, SECOND
from duetime.core.worker_calls import Leased, LeaseRequest, Recorded, Renewal, Renewed, Report
from duetime.executor.remote_attempts import RemoteAttempts
from tests.cuts import task_invariants
from tests.cuts.backends import Backend, open_backend
from tests.cuts.cut_points import Cutter, Point, distinct_cuts, possible_cuts
from tests.cuts.scenario_player import EXECUTOR, Effect, ScenarioPlayer
from tests.cuts.task_scenarios import WATCHED, Scenario, goes_its_way
from tests.world import WAKE_POLICY

T = TypeVar("T")

HANDLER = "shop.restock"
# The actors. To be cut while it leases may cost the runner an attempt, as it does an executor.
LEASE, RENEW, OUTCOME, LEASES = EXECUTOR, "renew", "outcome", "leases"
FAILED = Failure(outcome=Outcome.FAILED, error=TaskError(type="ValueError", message="no"))
OVER = LENGTH + CLOCK_SKEW + SECOND
FIELDS = {"target": {"type": "python", "handler": HANDLER}}


def a_scenario(**fields: object) -> Scenario:
    """A task whose message was lost may wait for the worker, too."""
    late: dict[str, Any] = {"late_when_cut": WATCHED + OVER, **fields}
    return Scenario(play=goes_its_way, fields=FIELDS, **late)


SCENARIOS = {
    "succeeds": a_scenario(),
    "fails once": a_scenario(fails=frozenset({1})),
    "interrupted": a_scenario(fails=frozenset({1}), interrupted=True),
}
# After which of its calls the runner is restarted, or time passes until the lease has run out.
COURSES: dict[str, tuple[str | None, int]] = {
    "undisturbed": (None, 0),
    "restart after the lease": (LEASE, 0),
    "restart after the renewal": (RENEW, 0),
    "late outcome": (None, OVER),
    "late outcome after a restart": (RENEW, OVER),
}


class WorkerPlayer(ScenarioPlayer):
    """One worker runs everything. What the runner knows of its leases is lost with the runner."""

    def __init__(self, backend: Backend, cutter: Cutter, scenario: Scenario, course: str) -> None:
        super().__init__(backend, cutter, scenario.fails)
        self._failure = INTERRUPTED if scenario.interrupted else FAILED
        self._restarts_after, self._takes = COURSES[course]
        self._requests = 0
        self._start_runner()

    def execute(self) -> None:
        leased = self._call(LEASE, self._lease)
        now = self.world.clock.now()
        for task in (each.task for each in leased):
            self.effects.append(
                Effect(task_id=task.id, attempt=task.attempt, at=now, due_at=task.due_at)
            )
        if leased:
            held = self._renew(leased)
            self.world.advance(self._takes)
            self._report(held)

    def tick(self) -> None:
        self._act(LEASES, lambda ports: self._remote.end_expired())
        super().tick()

    # the worker

    def _lease(self, remote: RemoteAttempts) -> list[Leased]:
        return remote.lease(
            LeaseRequest(
                worker="w1",
                pool=None,
                lanes=tuple(Lane),
                handlers=(HANDLER,),
                most=10,
                wait=0.0,
                request=str(self._requests),  # the same when it is repeated
                body_hash="a",
            )
        )

    def _renew(self, leased: Sequence[Leased]) -> list[Leased]:
        """Returns those that are still held."""
        renewals = [Renewal(task_id=each.task.id, holder=each.holder) for each in leased]
        answers = self._call(RENEW, lambda remote: remote.renew("w1", renewals))
        pairs = zip(leased, answers, strict=True)
        return [each for each, answer in pairs if isinstance(answer, Renewed)]

    def _report(self, leased: Sequence[Leased]) -> None:
        """Each outcome of an attempt that it holds is taken, also when it is repeated."""
        reports = [
            Report(
                task_id=each.task.id,
                holder=each.holder,
                failure=self._failure if each.task.attempt in self._fails else None,
            )
            for each in leased
        ]
        answers = self._call(OUTCOME, lambda remote: remote.record("w1", reports))
        assert all(isinstance(answer, Recorded) for answer in answers)

    def _call(self, actor: str, call: Callable[[RemoteAttempts], T]) -> T:
        self._requests += actor == LEASE
        answer = self._retry_if_cut(actor, lambda ports: call(self._remote))
        if actor == self._restarts_after:
            self.world.purge()
            self.world.store.port.recover(WAKE_POLICY, self.world.clock.now())
            self._start_runner()
            self.tick()
        return answer

    # the runner

    def _start_runner(self) -> None:
        lanes = self.world.lanes.port
        self._remote = RemoteAttempts(self._ports("runner"), lanes, DEFAULT_WEIGHTS)
        self._remote.adopt(self.world.store.port.held_by_workers())

    def _try(self, actor: str, action: Callable[[], T]) -> T | None:
        before = self.cut_actor
        done = super()._try(actor, action)
        if self.cut_actor != before and self.backend.restarts:
            self._start_runner()
        return done


def play(name: str, course: str, backend_name: str, cut: Point | None) -> list[Point]:
    scenario = SCENARIOS[name]
    with open_backend(backend_name, None) as backend:
        player = WorkerPlayer(backend, Cutter(cut), scenario, course)
        scenario.play(player, scenario)
        player.run_to_rest()
        assert (player.cut_actor is None) == (cut is None)
        task_invariants.check(player, scenario)
        _only_a_lease_that_no_worker_knows_is_lost(player)
        return possible_cuts(player.cutter.calls, halves=backend.halves)


def _only_a_lease_that_no_worker_knows_is_lost(player: WorkerPlayer) -> None:
    """Whatever dies while the worker runs an attempt, and however often, the attempt counts."""
    attempts = [a for task in player.tasks() for a in player.world.attempts(task.id)]
    lost = [a for a in attempts if a.outcome is Outcome.LEASE_EXPIRED]
    assert not lost or player.cut_actor == LEASE


@pytest.mark.parametrize("course", COURSES)
@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("backend", ["sqlite", "restarted"])
def test_task_of_a_worker_comes_to_its_end_wherever_its_runner_is_cut(
    backend: str, name: str, course: str, subtests: pytest.Subtests
) -> None:
    cuts = play(name, course, backend, None)
    assert {cut.call.actor.split()[0] for cut in cuts} >= {"submit", LEASE, RENEW, OUTCOME}
    for cut in distinct_cuts(cuts):
        with subtests.test(f"{name}, {course}, {backend}, {cut}"):
            play(name, course, backend, cut)
