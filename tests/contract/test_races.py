"""Races: of many writers that want the same task, one wins."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from duetime.core.change import Answer, Applied
from duetime.core.delivery import delivery_of
from duetime.core.ports import Reservation, TaskStore
from duetime.core.steps.claim import claim
from duetime.core.steps.lease import lease
from duetime.core.times import SECOND
from tests.factories import NOW, WAKE_POLICY, a_draw, a_sent_task, a_task, an_id

RIVALS = 32
ROUNDS = 3


def at_once(action: Callable[[int], Answer]) -> list[Answer]:
    start = Barrier(RIVALS)

    def go(rival: int) -> Answer:
        start.wait()
        return action(rival)

    with ThreadPoolExecutor(RIVALS) as threads:
        return list(threads.map(go, range(RIVALS)))


def winners(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if isinstance(answer, Applied)]


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_scanner_claims(store: TaskStore, _round: int):
    task = a_task()
    store.put([task])
    claims = [
        claim(WAKE_POLICY, task.wake, now=NOW, draw=a_draw(spread=rival / RIVALS))
        for rival in range(RIVALS)
    ]

    answers = at_once(lambda rival: store.apply([claims[rival]])[0])

    [winner] = winners(answers)
    assert {answer.stored.wake for answer in answers} == {winner.stored.wake}
    assert store.get([task.id]) == {task.id: winner.stored}


@pytest.mark.parametrize("_round", range(ROUNDS))
def test_one_executor_leases(store: TaskStore, _round: int):
    task = a_sent_task()
    store.put([task])
    delivery = delivery_of(task, NOW)

    def take(rival: int) -> Answer:
        change = lease(delivery, now=NOW + 10 * SECOND, holder=f"holder{rival}")
        return store.apply([change])[0]

    answers = at_once(take)

    [winner] = winners(answers)
    assert {answer.stored.holder for answer in answers} == {winner.stored.holder}
    assert store.get([task.id])[task.id].attempt == 1


def test_one_submission_gets_the_key(store: TaskStore):
    wanted = [
        Reservation(
            namespace="default", key="k", task_id=an_id(), body_hash="h", expires_at=NOW + 1
        )
        for _ in range(RIVALS)
    ]

    reserved = at_once(lambda rival: store.reserve([wanted[rival]], NOW)[0])

    assert len(set(reserved)) == 1
    assert reserved[0] in wanted
