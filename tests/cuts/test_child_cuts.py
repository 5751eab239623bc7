"""An attempt that submits children and dies before or after any call: each child is there once, and
runs."""

from collections import Counter
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.core.lifecycle import Status
from duetime.core.listings import Listing
from duetime.core.task import Task
from duetime.core.task_filter import TaskFilter
from duetime.core.times import MINUTE
from duetime.executor.run_control import RunControl
from duetime.handlers import registry
from duetime.handlers.handler import Handler
from duetime.local.moto_backend import fair_moto
from tests.cuts.backends import Aws, open_backend
from tests.cuts.cut_points import Cutter, Point, distinct_cuts, possible_cuts
from tests.cuts.scenario_player import ScenarioPlayer

NAME = "reports.daily"
HANDLER: Handler[..., Any] = Handler(lambda n: n, NAME, isolated=False, defaults={})


def a_child(n: int, **fields: Any) -> dict[str, Any]:
    return {"target": {"type": "python", "handler": NAME}, "payload": {"n": n}, **fields}


class ParentPlayer(ScenarioPlayer):
    """Its parent submits two children that are due now, a later one with a key, and one with a
    step, whose payload differs between attempts."""

    def _run(self, task: Task, control: RunControl) -> Any:
        if task.spec.parent_id is None:
            control.submit([a_child(1), a_child(2)])
            control.submit([a_child(3, delay=120, idempotency_key="third")])
            control.submit([a_child(10 * task.attempt, step="fourth")])
        return super()._run(task, control)

    def tasks(self) -> list[Task]:
        """Time goes on to the wakes of the children, too."""
        page = self.world.store.page(Listing(limit=100))
        return list(page.tasks)


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(dynamodb, sqs, table="child-cuts", prefix="child-cuts")
        yield Aws(dynamodb, sqs, "child-cuts", urls)


@pytest.fixture(params=["sqlite", "restarted", pytest.param("moto", marks=pytest.mark.long)])
def where(request: pytest.FixtureRequest) -> tuple[str, Aws | None]:
    return request.param, request.getfixturevalue("aws") if request.param == "moto" else None


def play(where: tuple[str, Aws | None], cut: Point | None, *, fails: bool) -> list[Point]:
    handlers = patch.dict(registry._handlers, {NAME: HANDLER})
    with open_backend(*where) as backend, handlers:
        player = ParentPlayer(backend, Cutter(cut), frozenset({1} if fails else ()))
        player.submit(1, due_in=MINUTE)
        [parent_id] = player.ids
        player.run()
        with player.cutter.paused():
            world = player.world
            wanted = TaskFilter(parent_id=parent_id)
            children = world.store.page(Listing(filter=wanted, limit=100)).tasks
            assert world.task(parent_id).status is Status.SUCCEEDED
            assert {child.status for child in children} == {Status.SUCCEEDED}
            numbers = Counter(child.spec.payload["n"] for child in children)
            assert [numbers[n] for n in (1, 2, 3)] == [1, 1, 1]
            assert len(children) == 4, "the first submission of a step wins"
            everything = world.store.page(Listing(limit=100)).tasks
            assert len(everything) == 5
        return possible_cuts(player.cutter.calls, halves=backend.halves)


@pytest.mark.parametrize("fails", [False, True], ids=["succeeds", "fails once"])
def test_children_are_there_once_wherever_an_attempt_is_cut(
    where: tuple[str, Aws | None], fails: bool, subtests: pytest.Subtests
):
    cuts = [cut for cut in play(where, None, fails=fails) if "executor" in cut.call.actor]
    chosen = distinct_cuts(cuts)
    puts = [cut for cut in chosen if cut.call.verb == "put"]
    assert len(puts) >= 3, "each submission is a write of its own"
    for cut in chosen:
        with subtests.test(f"{where[0]}, {cut}"):
            play(where, cut, fails=fails)
