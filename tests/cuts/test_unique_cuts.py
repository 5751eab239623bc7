"""A submission with a unique key that dies before or after any call, and is repeated."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.core.ids import new_id
from duetime.core.lifecycle import Status
from duetime.core.listings import Listing
from duetime.core.retry import RetryPolicy
from duetime.core.times import HOUR
from duetime.core.unique import OnConflict, Unique
from duetime.engine.submission import Submission, Submitted, TaskRequest
from duetime.local.moto_backend import fair_moto
from tests.cuts.backends import Aws, open_backend
from tests.cuts.cut_points import Cutter, Point, possible_cuts
from tests.cuts.scenario_player import ScenarioPlayer
from tests.factories import a_spec

ONE_TRY = RetryPolicy(max_attempts=1)


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(dynamodb, sqs, table="unique-cuts", prefix="unique-cuts")
        yield Aws(dynamodb, sqs, "unique-cuts", urls)


@pytest.fixture(params=["sqlite", "restarted", pytest.param("moto", marks=pytest.mark.long)])
def where(request: pytest.FixtureRequest) -> tuple[str, Aws | None]:
    return request.param, request.getfixturevalue("aws") if request.param == "moto" else None


def submit(player: ScenarioPlayer, number: int, due_in: int = 0, **named: Any) -> Submitted:
    now = player.world.clock.now()
    unique = Unique(key="k", on_conflict=OnConflict.REPLACE)
    keyed = None if "id" in named else f"key-{number}"
    spec = a_spec(run_at=now + due_in, retry=ONE_TRY, unique=unique, idempotency_key=keyed)
    wanted = [TaskRequest(spec=spec, body_hash=f"body-{number}", **named)]
    [answer] = player._retry_if_cut("submit", lambda ports: Submission(ports).submit(wanted))
    assert isinstance(answer, Submitted)
    player.ids.append(answer.task.id)
    return answer


def nothing(player: ScenarioPlayer) -> None:
    """The key is free."""


def pending(player: ScenarioPlayer) -> None:
    submit(player, 1, due_in=HOUR)


def ended(player: ScenarioPlayer) -> None:
    submit(player, 1)
    player.run()


def dead(player: ScenarioPlayer) -> None:
    player._fails = frozenset({1})
    submit(player, 1)
    player.run(until=player.all_are(Status.DEAD))
    player._fails = frozenset()


def play(
    before: Callable[[ScenarioPlayer], None],
    where: tuple[str, Aws | None],
    cut: Point | None,
    *,
    by_id: bool,
) -> list[Point]:
    with open_backend(*where) as backend:
        player = ScenarioPlayer(backend, Cutter(cut), frozenset())
        with player.cutter.paused():
            before(player)
        named = {"id": new_id(player.world.clock.now(), 7)} if by_id else {}
        second = submit(player, 2, **named)
        with player.cutter.paused():
            tasks = player.world.store.page(Listing()).tasks
            assert [t.id for t in tasks if not t.status.finished] == [second.task.id]
            assert len(tasks) == (1 if before is nothing else 2)
            player.run()
            assert player.world.task(second.task.id).status is Status.SUCCEEDED
        return possible_cuts(player.cutter.calls, halves=False)


@pytest.mark.parametrize("by_id", [False, True], ids=["key", "id"])
@pytest.mark.parametrize("before", [nothing, pending, ended, dead])
def test_unique_submission_leaves_one_live_task_wherever_it_is_cut(
    before: Any, by_id: bool, where: tuple[str, Aws | None], subtests: pytest.Subtests
) -> None:
    cuts = [cut for cut in play(before, where, None, by_id=by_id) if "submit" in cut.call.actor]
    assert len(cuts) >= 4
    for cut in cuts:
        with subtests.test(f"{before.__name__}, {where[0]}, {cut}"):
            play(before, where, cut, by_id=by_id)
