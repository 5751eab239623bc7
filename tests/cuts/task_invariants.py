"""What is true of every life once nothing is left to do, wherever it was cut."""

from itertools import pairwise

from lambdas.core.lifecycle import Outcome, Status
from lambdas.core.task import Attempt, Task
from lambdas.core.times import SECOND, seconds
from tests.cuts.lives import Life
from tests.cuts.stage import EXECUTOR, Effect, Stage

FEW_SECONDS = 5 * SECOND  # that a user takes to repeat a request
MORE_SENDS = 3  # than attempts: what a cut may cost in messages


def hold(stage: Stage, life: Life) -> None:
    tasks = stage.tasks()
    assert len(tasks) == life.tasks
    for task in tasks:
        attempts = stage.world.attempts(task.id)
        effects = [effect for effect in stage.effects if effect.task_id == task.id]
        _it_has_ended(task, life)
        _attempts_are_told_in_full(task, attempts)
        _outcomes_are_those_of_the_target(stage, life, attempts)
        _nothing_is_early(task, life, attempts, effects)
        _nothing_is_very_late(stage, life, attempts)
        _each_attempt_takes_effect_once(attempts, effects)
        _few_messages_were_sent(stage, task)
    _nothing_is_left(stage)


def _it_has_ended(task: Task, life: Life) -> None:
    assert task.status is life.end
    assert (task.wake, task.lease_until) == (None, None)
    lives = 2 if life.revived else 1
    assert task.budget == lives * task.spec.retry.max_attempts


def _attempts_are_told_in_full(task: Task, attempts: list[Attempt]) -> None:
    assert [a.number for a in attempts] == list(range(1, task.attempt + 1))
    assert all(a.outcome and a.finished_at is not None for a in attempts)
    assert task.attempt <= task.budget
    if task.status is Status.DEAD:
        assert task.attempt == task.budget


def _outcomes_are_those_of_the_target(stage: Stage, life: Life, attempts: list[Attempt]) -> None:
    """But for an attempt that was cut, or lost without a cut: it ends with its lease."""
    lost = [a for a in attempts if a.outcome is Outcome.LEASE_EXPIRED]
    was_cut = stage.cut_actor == EXECUTOR or (stage.backend.restarts and stage.cut_actor)
    assert len(lost) <= life.loses + bool(was_cut)
    for attempt in attempts:
        scripted = Outcome.FAILED if attempt.number in life.fails else Outcome.SUCCEEDED
        stopped = Outcome.CANCELLED if life.end is Status.CANCELLED else scripted
        assert attempt in lost or attempt.outcome in (scripted, stopped)
    succeeded = [a.number for a in attempts if a.outcome is Outcome.SUCCEEDED]
    assert succeeded == ([len(attempts)] if life.end is Status.SUCCEEDED else [])


def _nothing_is_early(
    task: Task, life: Life, attempts: list[Attempt], effects: list[Effect]
) -> None:
    assert all(attempt.started_at >= task.spec.run_at for attempt in attempts)
    assert all(effect.at >= effect.due_at for effect in effects)
    retry = task.spec.retry
    for before, after in pairwise(attempts):
        first_again = life.revived and after.number == retry.max_attempts + 1
        wait = 0 if first_again else seconds(retry.base_delay)
        assert after.started_at >= before.finished_at + wait


def _nothing_is_very_late(stage: Stage, life: Life, attempts: list[Attempt]) -> None:
    latest = life.late if stage.cut_actor is None else life.late_when_cut
    assert all(attempt.drift_ms <= latest + FEW_SECONDS for attempt in attempts)


def _each_attempt_takes_effect_once(attempts: list[Attempt], effects: list[Effect]) -> None:
    numbers = [effect.attempt for effect in effects]
    assert len(numbers) == len(set(numbers))
    done = {a.number for a in attempts if a.outcome in (Outcome.SUCCEEDED, Outcome.FAILED)}
    assert done <= set(numbers) <= {a.number for a in attempts}


def _few_messages_were_sent(stage: Stage, task: Task) -> None:
    sent = [d for d in stage.world.lanes.sent if d.task_id == task.id]
    assert len(sent) <= task.attempt + MORE_SENDS


def _nothing_is_left(stage: Stage) -> None:
    assert stage.world.awake() == []
    left = stage.backend.left()
    assert (left.ready, left.delayed, left.in_flight) == (0, 0, 0)
    if stage.backend.keeps_letters:
        dead = [task.id for task in stage.tasks() if task.status is Status.DEAD]
        assert sorted(stage.backend.letters()) == sorted(dead)
