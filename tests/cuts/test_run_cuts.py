"""Workflow runs: an actor dies before or after any call to a backend, and each run comes to its
end. Every step has succeeded once, and nothing has taken longer than the watches allow.

Each backend makes a sample of the cuts here. The long tests make the others, and `make test-cuts`
those on moto, where a cut takes half a second.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.core.steps.follow_up import RELAY_GRACE
from duetime.core.times import SECOND, Millis
from duetime.core.wake_policy import FIRST_WATCH, WATCH_SPREAD
from duetime.core.workflows.watches import SECOND_WATCH, STOP_WATCH
from duetime.local.moto_backend import fair_moto
from tests.cuts import run_invariants
from tests.cuts.backends import Aws, open_backend
from tests.cuts.cut_points import Cutter, Point, distinct_cuts, possible_cuts
from tests.cuts.run_player import RunPlayer
from tests.cuts.run_scenarios import RUN_SCENARIOS, RunScenario

PROMPT: Millis = 3 * SECOND  # a request that is repeated, and the delay of a retry
WATCHED: Millis = FIRST_WATCH + WATCH_SPREAD + PROMPT
STOPPED: Millis = STOP_WATCH + SECOND_WATCH + PROMPT  # a run that is stopped while a step is lost

# One in so many of the cuts that differ in their effect.
SAMPLED = {"sqlite": 8, "sqlite-without-relay": 12, "restarted": 8, "moto": 30}
REST = "_rest"
QUICK_ON_MOTO = ("diamond",)


class Where(NamedTuple):
    backend: str
    aws: Aws | None

    @property
    def name(self) -> str:
        return self.backend.removesuffix(REST)

    @property
    def relays(self) -> bool:
        return "without-relay" not in self.name


class Played(NamedTuple):
    cuts: list[Point]
    took: Millis  # until the run was over
    player: RunPlayer


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(dynamodb, sqs, table="run-cuts", prefix="run-cuts")
        yield Aws(dynamodb, sqs, "run-cuts", urls)


def play(scenario: RunScenario, where: Where, cut: Point | None = None) -> Played:
    with open_backend(where.name, where.aws) as backend:
        player = RunPlayer(backend, Cutter(cut), scenario.failing, relays=where.relays)
        started_at = player.world.clock.now()
        scenario.play(player, scenario)
        player.run_to_rest()
        assert (player.cut_actor is None) == (cut is None)
        run_invariants.check(player, scenario)
        [run] = [run for run in player.runs() if run.id == player.run_id]
        assert run.finished_at is not None
        cuts = possible_cuts(player.cutter.calls, halves=backend.halves)
        return Played(cuts, run.finished_at - started_at, player)


def choose_cuts(cuts: list[Point], where: Where) -> list[Point]:
    distinct = distinct_cuts(cuts)
    sample = distinct[:: SAMPLED[where.name]]
    if where.name == where.backend:
        return sample
    return [cut for cut in distinct if cut not in sample]


def latest(played: Played, where: Where) -> Millis:
    """Returns how late the end of a run may be that was cut."""
    if played.player.backend.restarts:
        return PROMPT  # the next runner looks at everything at once
    if not where.relays:
        return max(STOPPED, RELAY_GRACE)
    return WATCHED if played.player.left_to_watches else PROMPT


def _cases() -> Iterator[Any]:
    for name, backend in product(RUN_SCENARIOS, SAMPLED):
        quick = backend != "moto" or name in QUICK_ON_MOTO
        yield pytest.param(name, backend, marks=() if quick else pytest.mark.long)
        rest = pytest.mark.moto_cuts if backend == "moto" else pytest.mark.long
        yield pytest.param(name, f"{backend}{REST}", marks=rest)


@pytest.mark.parametrize(("name", "backend"), list(_cases()))
def test_a_run_comes_to_its_end_wherever_it_is_cut(
    name: str, backend: str, request: pytest.FixtureRequest, subtests: pytest.Subtests
) -> None:
    aws = request.getfixturevalue("aws") if backend.startswith("moto") else None
    scenario, where = RUN_SCENARIOS[name], Where(backend, aws)
    whole = play(scenario, where)
    cuts = choose_cuts(whole.cuts, where)
    assert cuts
    for cut in cuts:
        with subtests.test(f"{name}, {where.backend}, {cut}"):
            played = play(scenario, where, cut)
            late = played.took - whole.took
            assert late <= latest(played, where) + scenario.waits, f"late by {late}"
