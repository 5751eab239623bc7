"""A few seeds with every run of the tests; `make simulate` simulates a thousand."""

from collections import Counter
from collections.abc import Iterator

import pytest

from duetime.core.occurrence import OverlapPolicy
from duetime.core.task import Task
from duetime.core.times import MINUTE, SECOND, Millis, seconds
from duetime.scanner.wake_reader import SmallIndex, WakeIndex, read_index
from tests.simulation import (
    drain_workload,
    faults,
    rate_workload,
    run_workload,
    schedule_workload,
    worker_draws,
)
from tests.simulation.mutants import MUTANTS
from tests.simulation.run_history import RunHistory
from tests.simulation.store import SimulatedStore
from tests.simulation.trial import Trial, simulate
from tests.simulation.world import World

SEEDS = range(20)
RUN_SEEDS = range(8)  # in each of which there are workflow runs
WORKER_SEEDS = range(8)  # in each of which there are HTTP workers
MAX_SEEDS = 150  # that a mutant may survive
RARE = {  # mutants that survive many seeds, which takes seconds
    "backed_up_lanes_refuse_for_ever",
    "bulk_cancel_without_a_condition",
    "cancellation_ignored",
    "change_made_from_an_old_version",
    "change_of_a_running_task",
    "clears_any_end",
    "discard_without_a_condition",
    "end_of_a_run_not_matched_to_its_schedule",
    "ends_of_late_runs_not_noticed",
    "fire_time_lost_after_an_unknown_put",
    "follow_ups_forgotten",
    "freed_before_recorded",
    "freed_slot_not_handed_over",
    "grant_kept_by_the_lease",
    "handlers_not_stopped_in_silence",
    "joined_after_looking",
    "late_runs_keep_their_messages",
    "late_runs_start_before_their_turn",
    "late_runs_taken_for_overlapping",
    "late_send_taken_for_a_redrive",
    "message_deleted_before_its_slot_is_free",
    "message_deleted_under_a_running_attempt",
    "misfires_not_decided_at_the_start",
    "missed_decided_again_and_again",
    "no_cancelled_placeholder",
    "no_holder_check_on_record",
    "old_versions_start",
    "outcome_given_up_at_once",
    "own_write_not_recognised",
    "pause_moves_no_clock",
    "promoted_after_a_lease",
    "promoted_to_the_top_at_once",
    "recorded_after_the_end",
    "resumed_without_the_run_attempt",
    "rule_scans_beside_a_chain",
    "run_once_decided_again_and_again",
    "run_resumed_before_its_steps",
    "runs_outside_the_rule_dropped",
    "slots_counted",
    "task_read_before_its_run",
    "wake_removed_after_looking",
    "watches_not_spread",
}
# Where to begin with mutants that few worlds notice.
FIRST_SEEDS = {
    "clears_any_end": 85,
    "dead_holders_end_with_their_own_watch": 18,
    "discard_without_a_condition": 22,
    "end_of_a_run_not_matched_to_its_schedule": 54,
    "fail_fast_leaves_running_steps": 8,
    "joined_after_looking": 18,
    "late_runs_keep_their_messages": 80,
    "late_runs_start_before_their_turn": 180,
    "late_send_taken_for_a_redrive": 46,
    "lease_counts_from_the_answer": 9,
    "line_without_a_watch": 90,
    "missed_decided_again_and_again": 583,
    "recorded_after_the_end": 14,
    "resumed_without_the_run_attempt": 120,
    "rule_scans_beside_a_chain": 102,
    "run_resumed_before_its_steps": 66,
    "task_read_before_its_run": 13,
    "wake_removed_after_looking": 18,
}
LONG = [pytest.mark.long]


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_and_nothing_runs_twice(seed: int):
    report = simulate(seed)

    assert report.violation is None, "\n".join([report.violation or "", *report.trace])


def test_without_faults_everything_is_on_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(faults, "draw_faults", lambda *random: faults.Faults(lasts=10 * MINUTE))
    monkeypatch.setattr(drain_workload, "SHARES", [0.0])
    monkeypatch.setattr(worker_draws, "RESTARTS", [0])
    drifts = []
    for seed in range(6):
        world = World(seed)
        Trial(world, tasks=50).run()
        on_time = [t for t in world.monitor.tasks.values() if t.current and not _may_wait(t)]
        drifts += [task.current.drift_ms for task in on_time if task.current]
        world.close()

    assert len(drifts) > 100
    assert max(drifts) <= SECOND  # an executor that is handed a message early waits out the rest


def test_without_faults_no_period_has_more_starts_than_its_rate(monkeypatch: pytest.MonkeyPatch):
    """The messages come from simulated SQS, one to two seconds early."""
    monkeypatch.setattr(faults, "draw_faults", lambda *random: faults.Faults(lasts=4 * MINUTE))
    monkeypatch.setattr(rate_workload, "SHARES", [1.0])
    monkeypatch.setattr(worker_draws, "RESTARTS", [0])
    monkeypatch.setattr(run_workload, "RUNS", [0])
    checked = 0
    for seed in range(4):
        world = World(seed)
        Trial(world, tasks=80).run()
        for key, starts in world.monitor.rates.starts.items():
            rate = rate_workload.RATES[key.name]
            most, moments = rate.count + rate.burst, sorted(at for at, _ in starts)
            for first, last in zip(moments, moments[most:], strict=False):
                assert last - first >= rate.period
                checked += 1
        world.close()

    assert checked > 100


@pytest.mark.parametrize("seed", RUN_SEEDS)
def test_runs_keep_their_laws(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run_workload, "RUNS", [5])
    report = simulate(seed)

    assert report.violation is None, "\n".join([report.violation or "", *report.trace])


@pytest.mark.parametrize("seed", WORKER_SEEDS)
def test_http_workers_keep_their_laws_while_their_runner_is_restarted(
    seed: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(worker_draws, "WORKERS", [2])
    monkeypatch.setattr(worker_draws, "RESTARTS", [1, 3])
    report = simulate(seed)

    assert report.violation is None, "\n".join([report.violation or "", *report.trace])


def test_without_faults_a_step_starts_when_its_needs_have_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(faults, "draw_faults", lambda *random: faults.Faults(lasts=4 * MINUTE))
    monkeypatch.setattr(run_workload, "RUNS", [5])
    monkeypatch.setattr(schedule_workload, "SCHEDULES", [0])
    monkeypatch.setattr(worker_draws, "RESTARTS", [0])
    lateness = []
    for seed in range(8):
        world = World(seed)
        Trial(world, tasks=5).run()
        lateness += list(_lateness(world.monitor.runs.history))
        world.close()

    assert len(lateness) > 20
    assert max(lateness) <= SECOND


def _lateness(history: RunHistory) -> Iterator[Millis]:
    """Returns how late each step has begun that needs others and was run once."""
    for run in history.rows.values():
        for position, state in enumerate(run.states):
            task = history.task(run, position) if state in "sdc" else None
            needs = [history.task(run, need) for need in history.needs(run, position)]
            if task is None or task.current is None or task.attempt != 1 or not needs:
                continue
            if all(need is not None for need in needs):
                ended = max(need.updated_at for need in needs if need)
                ready = max(ended, history.begun_at[run.id, run.attempt])
                delay = seconds(history.definition(run).steps[position].delay)
                yield task.current.started_at - ready - delay


def _may_wait(task: Task) -> bool:
    occurrence = task.spec.occurrence
    overlaps = occurrence is not None and occurrence.overlap is not OverlapPolicy.ALLOW
    return overlaps or bool(task.spec.limits) or task.spec.ordering_key is not None


@pytest.mark.long
def test_ticks_read_the_index_both_ways(monkeypatch: pytest.MonkeyPatch):
    ways: Counter[type] = Counter()

    def noted(store: SimulatedStore) -> WakeIndex:
        index = read_index(store)
        ways[type(index)] += 1
        return index

    monkeypatch.setattr("duetime.scanner.scanner.read_index", noted)
    for seed in SEEDS:
        simulate(seed)
        if min(ways[SmallIndex], ways[SimulatedStore]) > 100:
            return

    pytest.fail(f"ticks read the index in one way only: {ways}")


def test_a_seed_decides_everything():
    with MUTANTS["no_watch"]():
        first = next(report for seed in range(MAX_SEEDS) if (report := simulate(seed)).violation)
        again = simulate(first.seed)

    assert (again.violation, again.trace, again.took) == (first.violation, first.trace, first.took)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LONG if name in RARE else []) for name in MUTANTS]
)
def test_a_broken_protocol_is_noticed(name: str):
    first = FIRST_SEEDS.get(name, 0)
    seeds = range(first, first + MAX_SEEDS)
    with MUTANTS[name]():
        caught = next((seed for seed in seeds if simulate(seed).violation), None)

    assert caught is not None, f"{MAX_SEEDS} seeds saw nothing wrong"


def test_a_failure_can_be_read():
    with MUTANTS["last_message_deleted_on_dead"]():
        report = next(report for seed in range(MAX_SEEDS) if (report := simulate(seed)).violation)

    trace = "\n".join(report.trace)
    assert report.violation == "dead, and its message is not in the dead-letter queue"
    assert "RUNNING>DEAD" in trace
    assert "deletes" in trace
    assert "executor-" in trace
