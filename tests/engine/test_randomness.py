"""The system's randomness, and what tasks that are stored together share of it."""

from contextlib import closing
from dataclasses import replace
from random import Random

import pytest

from duetime.core.ports import RandomSource
from duetime.engine.clock import SystemRandom
from duetime.engine.submission import Submission, Submitted, TaskRequest
from duetime.sqlite.task_store import SqliteTaskStore
from duetime.testing.clock import SeededRandom
from tests.api.service import Service
from tests.factories import NOW, SteppedClock, a_spec

SOURCES = [SystemRandom(), SeededRandom(Random(1))]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: type(source).__name__)
def test_draws_share_their_spread_alone(source: RandomSource):
    draws = source.draws(50)

    assert len(draws) == 50
    assert len({draw.spread for draw in draws}) == 1
    assert len({draw.nonce for draw in draws}) == len({draw.luck for draw in draws}) == 50
    assert all(0 <= draw.luck < 1 and 0 <= draw.spread < 1 for draw in draws)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: type(source).__name__)
def test_nonces_are_distinct(source: RandomSource):
    nonces = source.nonces(50)

    assert len(set(nonces)) == 50
    assert {len(nonce) for nonce in nonces} == {len(source.nonce())} == {16}
    assert source.nonces(0) == []


def test_watches_of_one_submission_are_neighbours_and_those_of_two_are_not():
    with closing(SqliteTaskStore(None)) as store:
        ports = Service(store, SteppedClock()).ports
        submission = Submission(replace(ports, chance=SeededRandom(Random(7))))

        def watches() -> set[int]:
            requests = [TaskRequest(spec=a_spec(run_at=NOW), body_hash="") for _ in range(20)]
            answers = submission.submit(requests)
            tasks = [answer.task for answer in answers if isinstance(answer, Submitted)]
            assert len(tasks) == 20
            return {task.wake.at for task in tasks if task.wake}

        first, second = watches(), watches()

    assert len(first) == len(second) == 1
    assert first != second
