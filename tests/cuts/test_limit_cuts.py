"""Tasks that wait for one slot: an actor dies before or after any call, and all end."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.core.lifecycle import Outcome, Status
from duetime.core.limits.definition import Limit, LimitUse
from duetime.core.limits.slots import Line
from duetime.core.times import MINUTE, Millis
from duetime.local.moto_backend import fair_moto
from tests.cuts.backends import Aws, open_backend
from tests.cuts.cut_points import Cutter, Point, distinct_cuts, possible_cuts
from tests.cuts.scenario_player import EXECUTOR, ScenarioPlayer

LINES = {
    "limit": Line(namespace="default", limit="one", key="k"),
    "order": Line(namespace="default", limit=None, key="k"),
}
FIELDS: dict[str, dict[str, Any]] = {
    "limit": {"limits": (LimitUse(name="one", key="k"),)},
    "order": {"ordering_key": "k"},
}
TASKS = 3
LATE: Millis = 6 * MINUTE  # with a cut: a lease that runs out, and the watch of the line
EVERY = {"sqlite": 1, "restarted": 1, "moto": 12}  # of the cuts that differ in their effect


class LimitPlayer(ScenarioPlayer):
    line: Line

    def next_wake(self) -> Millis | None:
        watch = self.world.slots.watch_of(self.line)
        wakes = [at for at in (super().next_wake(), watch.at if watch else None) if at is not None]
        return min(wakes, default=None)


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(dynamodb, sqs, table="limit-cuts", prefix="limit-cuts")
        yield Aws(dynamodb, sqs, "limit-cuts", urls)


@pytest.fixture(params=["sqlite", "restarted", pytest.param("moto", marks=pytest.mark.long)])
def where(request: pytest.FixtureRequest) -> tuple[str, Aws | None]:
    return request.param, request.getfixturevalue("aws") if request.param == "moto" else None


def play(kind: str, where: tuple[str, Aws | None], cut: Point | None) -> list[Point]:
    with open_backend(*where) as backend:
        player = LimitPlayer(backend, Cutter(cut), frozenset())
        player.line = LINES[kind]
        player.world.limits.put(Limit(namespace="default", name="one", concurrency=1))
        player.submit(TASKS, **FIELDS[kind])
        player.run()
        player.run_to_rest()
        with player.cutter.paused():  # the watch of the line finds nobody there
            player.world.advance(MINUTE)
            player.tick()
        assert (player.cut_actor is None) == (cut is None)
        _check(player, name=where[0])
        return possible_cuts(player.cutter.calls, halves=backend.halves)


def _check(player: LimitPlayer, name: str) -> None:
    tasks = sorted(player.tasks(), key=lambda task: task.spec.idempotency_key or "")
    assert [task.status for task in tasks] == [Status.SUCCEEDED] * TASKS
    lost = [
        attempt
        for task in tasks
        for attempt in player.world.attempts(task.id)
        if attempt.outcome is Outcome.LEASE_EXPIRED
    ]
    assert len(lost) <= bool(player.cut_actor)
    spans = sorted(
        (attempt.started_at, attempt.finished_at)
        for task in tasks
        for attempt in player.world.attempts(task.id)
    )
    for (_, ended), (started, _) in pairwise(spans):
        assert started >= ended
    starts = [task.current.started_at for task in tasks if task.current]
    assert starts == sorted(starts) or player.line.limit is not None
    latest = max(task.current.drift_ms for task in tasks if task.current)
    assert latest <= (LATE if player.cut_actor else 0)
    [state] = player.world.slots.read([player.line])
    # What a task has left that ended without a look at its line holds nobody up.
    assert list(state.places) == [] or (player.line.limit is None and player.cut_actor)
    assert player.world.awake() == []
    if name == "sqlite" and player.cut_actor == EXECUTOR:
        return  # a thread that dies alone takes its message with it; its runner restarts after that
    assert list(state.slots) == [] or (player.line.limit is None and player.cut_actor)


@pytest.mark.parametrize("kind", LINES)
def test_tasks_in_a_line_come_to_their_end_wherever_they_are_cut(
    kind: str, where: tuple[str, Aws | None], subtests: pytest.Subtests
) -> None:
    cuts = distinct_cuts(play(kind, where, None))
    assert len(cuts) > 20
    for cut in cuts[:: EVERY[where[0]]]:
        with subtests.test(f"{kind}, {where[0]}, {cut}"):
            play(kind, where, cut)
