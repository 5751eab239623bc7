"""What must hold of a task at the end of every scenario, with any cut."""

from itertools import pairwise

from duetime.core.lifecycle import Outcome, Status
from duetime.core.task import Attempt, Task
from duetime.core.times import SECOND, seconds
from tests.cuts.scenario_player import EXECUTOR, Effect, ScenarioPlayer
from tests.cuts.task_scenarios import Scenario

REPEATED_WITHIN = 5 * SECOND  # a user repeats a request that was cut
EXTRA_SENDS = 3  # messages that a cut may cost


def check(player: ScenarioPlayer, scenario: Scenario) -> None:
    tasks = player.tasks()
    assert len(tasks) == scenario.tasks
    for task in tasks:
        attempts = player.world.attempts(task.id)
        effects = [effect for effect in player.effects if effect.task_id == task.id]
        _task_has_ended(task, scenario, attempts)
        _attempts_are_complete(task, attempts)
        _outcomes_are_those_of_the_target(player, scenario, attempts)
        _nothing_is_early(task, scenario, attempts, effects)
        _nothing_is_very_late(player, scenario, attempts)
        _runs_see_the_change(scenario, effects)
        _each_attempt_takes_effect_once(attempts, effects)
        _few_messages_were_sent(player, scenario, task)
    _nothing_is_left(player)


def _task_has_ended(task: Task, scenario: Scenario, attempts: list[Attempt]) -> None:
    assert task.status is scenario.end
    assert (task.wake, task.lease_until) == (None, None)
    lives = 2 if scenario.revived else 1
    uncounted = sum(attempt.outcome is Outcome.INTERRUPTED for attempt in attempts)
    assert task.budget == lives * task.spec.retry.max_attempts + uncounted


def _attempts_are_complete(task: Task, attempts: list[Attempt]) -> None:
    assert [a.number for a in attempts] == list(range(1, task.attempt + 1))
    assert all(a.outcome and a.finished_at is not None for a in attempts)
    assert task.attempt <= task.budget
    if task.status is Status.DEAD:
        assert task.attempt == task.budget


def _outcomes_are_those_of_the_target(
    player: ScenarioPlayer, scenario: Scenario, attempts: list[Attempt]
) -> None:
    """Except for an attempt whose executor was cut or lost: it ends with its lease. An attempt
    that a cut delays may begin after the drain, and fails."""
    lost = [a for a in attempts if a.outcome is Outcome.LEASE_EXPIRED]
    was_cut = player.cut_actor == EXECUTOR or (player.backend.restarts and player.cut_actor)
    assert len(lost) <= scenario.loses + bool(was_cut)
    for attempt in attempts:
        failure = Outcome.INTERRUPTED if scenario.interrupted else Outcome.FAILED
        scripted = failure if attempt.number in scenario.fails else Outcome.SUCCEEDED
        stopped = Outcome.CANCELLED if scenario.end is Status.CANCELLED else scripted
        after_drain = failure if player.cut_actor is None else Outcome.FAILED
        allowed = (scripted, stopped, after_drain) if scripted is failure else (scripted, stopped)
        assert attempt in lost or attempt.outcome in allowed
    succeeded = [a.number for a in attempts if a.outcome is Outcome.SUCCEEDED]
    assert succeeded == ([len(attempts)] if scenario.end is Status.SUCCEEDED else [])


def _nothing_is_early(
    task: Task, scenario: Scenario, attempts: list[Attempt], effects: list[Effect]
) -> None:
    since = scenario.changed_after
    assert all(attempt.started_at >= task.spec.run_at for attempt in attempts[since:])
    assert all(effect.at >= effect.due_at for effect in effects)
    retry = task.spec.retry
    for before, after in pairwise(attempts):
        first_again = scenario.revived and after.number == retry.max_attempts + 1
        moved = scenario.change and after.number == scenario.changed_after + 1
        at_once = first_again or moved or before.outcome is Outcome.INTERRUPTED
        wait = 0 if at_once else seconds(retry.base_delay)
        assert after.started_at >= before.finished_at + wait


def _runs_see_the_change(scenario: Scenario, effects: list[Effect]) -> None:
    if "payload" in scenario.change:
        seen = [effect for effect in effects if effect.attempt > scenario.changed_after]
        assert {effect.payload for effect in seen} == {scenario.change["payload"]}


def _nothing_is_very_late(
    player: ScenarioPlayer, scenario: Scenario, attempts: list[Attempt]
) -> None:
    latest = scenario.late if player.cut_actor is None else scenario.late_when_cut
    assert all(attempt.drift_ms <= latest + REPEATED_WITHIN for attempt in attempts)


def _each_attempt_takes_effect_once(attempts: list[Attempt], effects: list[Effect]) -> None:
    numbers = [effect.attempt for effect in effects]
    assert len(numbers) == len(set(numbers))
    done = {a.number for a in attempts if a.outcome in (Outcome.SUCCEEDED, Outcome.FAILED)}
    assert done <= set(numbers) <= {a.number for a in attempts}


def _few_messages_were_sent(player: ScenarioPlayer, scenario: Scenario, task: Task) -> None:
    sent = [d for d in player.world.lanes.sent if d.task_id == task.id]
    for_each = 2 if scenario.waits else 1
    assert len(sent) <= task.attempt * for_each + scenario.resends + EXTRA_SENDS


def _nothing_is_left(player: ScenarioPlayer) -> None:
    assert player.world.awake() == []
    left = player.backend.left()
    assert (left.ready, left.delayed, left.in_flight) == (0, 0, 0)
    if player.backend.keeps_letters:
        dead = [task.id for task in player.tasks() if task.status is Status.DEAD]
        assert sorted(player.backend.letters()) == sorted(dead)
