"""A few seeds with every run of the tests; `make simulate` plays a thousand."""

from collections import Counter

import pytest

from lambdas.core.occurrence import OverlapPolicy
from lambdas.core.task import Task
from lambdas.core.times import MINUTE, SECOND
from lambdas.scanner.index import SmallIndex, WakeIndex, read_index
from tests.simulation import faults
from tests.simulation.mutants import MUTANTS
from tests.simulation.seed import Trial, simulate
from tests.simulation.store import SimulatedStore
from tests.simulation.world import World

SEEDS = range(20)
MOST = 150  # seeds that a mutant may survive


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_and_nothing_runs_twice(seed: int):
    report = simulate(seed)

    assert report.violation is None, "\n".join([report.violation or "", *report.trace])


def test_without_faults_everything_is_on_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(faults, "drawn", lambda *random: faults.Faults(lasts=10 * MINUTE))
    drifts = []
    for seed in range(4):
        world = World(seed)
        Trial(world, tasks=50).run()
        on_time = [t for t in world.monitor.tasks.values() if t.current and not _may_wait(t)]
        drifts += [task.current.drift_ms for task in on_time if task.current]
        world.close()

    assert len(drifts) > 100
    assert max(drifts) <= SECOND  # an executor that is handed a message early waits out the rest


def _may_wait(task: Task) -> bool:
    occurrence = task.spec.occurrence
    return occurrence is not None and occurrence.overlap is not OverlapPolicy.ALLOW


def test_ticks_read_the_index_both_ways(monkeypatch: pytest.MonkeyPatch):
    ways: Counter[type] = Counter()

    def noted(store: SimulatedStore) -> WakeIndex:
        index = read_index(store)
        ways[type(index)] += 1
        return index

    monkeypatch.setattr("lambdas.scanner.scanner.read_index", noted)
    for seed in SEEDS:
        simulate(seed)

    assert min(ways[SmallIndex], ways[SimulatedStore]) > 100


def test_a_seed_decides_everything():
    with MUTANTS["no_watch"]():
        first = next(report for seed in range(MOST) if (report := simulate(seed)).violation)
        again = simulate(first.seed)

    assert (again.violation, again.trace, again.took) == (first.violation, first.trace, first.took)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_protocol_is_noticed(name: str):
    with MUTANTS[name]():
        caught = next((seed for seed in range(MOST) if simulate(seed).violation), None)

    assert caught is not None, f"{MOST} seeds saw nothing wrong"


def test_a_failure_can_be_read():
    with MUTANTS["last_message_deleted_on_dead"]():
        report = next(report for seed in range(MOST) if (report := simulate(seed)).violation)

    told = "\n".join(report.trace)
    assert report.violation == "dead, and its message is not in the dead-letter queue"
    assert "RUNNING>DEAD" in told
    assert "deletes" in told
    assert "executor-" in told
