"""What must hold of a workflow run at the end of every scenario, with any cut."""

from collections import Counter

from duetime.core.lifecycle import Outcome, Status
from duetime.core.task import Attempt, Task
from tests.cuts.run_player import RunPlayer, name_of
from tests.cuts.run_scenarios import RunScenario

Attempts = dict[str, list[Attempt]]  # by task


def check(player: RunPlayer, scenario: RunScenario) -> None:
    tasks = player.tasks()
    attempts: Attempts = {task.id: player.world.attempts(task.id) for task in tasks}
    _run_has_ended(player, scenario)
    _every_task_has_ended(tasks)
    _steps_succeed_once(scenario, tasks, attempts)
    _handlers_run_once(player, scenario, attempts)
    _steps_get_the_results_before_them(player, scenario)
    assert player.most_items <= scenario.window
    _nothing_is_left(player, scenario, tasks, attempts)


def _run_has_ended(player: RunPlayer, scenario: RunScenario) -> None:
    view = player.view()
    found = (view["status"], view["result"], view["attempt"])
    assert found == (scenario.end, scenario.result, scenario.attempt), view["error"]
    assert {step["name"]: step["status"] for step in view["steps"]} == scenario.statuses
    runs = player.runs()
    assert len(runs) == scenario.runs
    assert all(run.status.over and run.wake is None for run in runs)


def _every_task_has_ended(tasks: list[Task]) -> None:
    for task in tasks:
        assert task.status.finished
        assert (task.wake, task.lease_until) == (None, None)


def _steps_succeed_once(scenario: RunScenario, tasks: list[Task], attempts: Attempts) -> None:
    """Counts over all tasks of a step: a retry of the run may give it another one."""
    succeeded: Counter[str] = Counter()
    for task in tasks:
        found = attempts[task.id]
        assert [attempt.number for attempt in found] == list(range(1, task.attempt + 1))
        assert all(attempt.finished_at is not None for attempt in found)
        if task.spec.step and (name := name_of(task.spec.step)) in scenario.ran:
            succeeded[name] += sum(attempt.outcome is Outcome.SUCCEEDED for attempt in found)
    assert succeeded == Counter(scenario.ran)


def _handlers_run_once(player: RunPlayer, scenario: RunScenario, attempts: Attempts) -> None:
    """A handler runs once for each of its attempts. It has one attempt, and another one only if
    the first failed, or was lost with an executor that was cut."""
    started = Counter((effect.task_id, effect.attempt) for effect in player.effects)
    assert set(started.values()) <= {1}
    ended = Counter(a.outcome for found in attempts.values() for a in found)
    lost, failed = ended[Outcome.LEASE_EXPIRED], ended[Outcome.FAILED]
    assert lost == 0 or player.cut_actor is not None
    assert {name for name, _ in player.ran} <= set(scenario.statuses) | set(scenario.ran)
    waiting = {name for name, _ in player.ran} - set(scenario.ran) - scenario.failing
    assert len(started) <= sum(scenario.ran.values()) + len(waiting) + failed + lost


def _steps_get_the_results_before_them(player: RunPlayer, scenario: RunScenario) -> None:
    for name, payload in player.ran:
        assert payload == scenario.payloads.get(name, payload)


def _nothing_is_left(
    player: RunPlayer, scenario: RunScenario, tasks: list[Task], attempts: Attempts
) -> None:
    """A letter may be left of a task that was retried after it had died."""
    assert player.world.awake() == []
    left = player.backend.left()
    assert (left.ready, left.delayed, left.in_flight) == (0, 0, 0)
    dead = {task.id: task.spec.step for task in tasks if task.status is Status.DEAD}
    assert {name_of(ref) for ref in dead.values() if ref} == scenario.dead_letters
    if player.backend.keeps_letters:
        letters = set(player.backend.letters())
        failed = {i for i, found in attempts.items() if any(_failed(a) for a in found)}
        assert dead.keys() <= letters <= failed


def _failed(attempt: Attempt) -> bool:
    return attempt.outcome is Outcome.FAILED
