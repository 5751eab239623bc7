"""Every cut: the actor dies before and after each call to a backend, one cut for each run of a
scenario, and the scenario must still come to its end.

A run without a cut counts the calls. A failed cut names its scenario, its backend and its call.
SQLite makes a sample of the cuts here. The long tests make the others and a sample on moto, and
`make test-cuts` the others there.
"""

from collections.abc import Iterator, Sequence

import pytest

from duetime.aws import clients
from duetime.aws.provision import ensure_resources
from duetime.local.moto_backend import fair_moto
from tests.cuts import schedule_scenarios, task_invariants
from tests.cuts.backends import Aws, open_backend
from tests.cuts.cut_points import Cutter, Point, distinct_cuts, possible_cuts
from tests.cuts.scenario_player import ScenarioPlayer
from tests.cuts.schedule_scenarios import SCHEDULE_SCENARIOS, SchedulePlayer, ScheduleScenario
from tests.cuts.task_scenarios import SCENARIOS, Scenario

# One in so many of the cuts that differ in their effect.
SAMPLED = {"sqlite": 3, "restarted": 6, "moto": 20}
LONG, MOTO_CUTS = pytest.mark.long, pytest.mark.moto_cuts
THE_REST = {"sqlite": LONG, "restarted": LONG, "moto": MOTO_CUTS}
REST = "_rest"
BACKENDS = [
    *("sqlite", "restarted"),
    pytest.param("moto", marks=LONG),
    *(pytest.param(f"{name}{REST}", marks=marks) for name, marks in THE_REST.items()),
]

Where = tuple[str, Aws | None]


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with fair_moto():
        dynamodb, sqs = clients.dynamodb(), clients.sqs()
        urls = ensure_resources(dynamodb, sqs, table="cuts", prefix="cuts")
        yield Aws(dynamodb, sqs, "cuts", urls)


@pytest.fixture(params=BACKENDS)
def where(request: pytest.FixtureRequest) -> Where:
    name = request.param
    return name, request.getfixturevalue("aws") if name.startswith("moto") else None


def choose_cuts(cuts: Sequence[Point], backend: str) -> list[Point]:
    name, distinct = backend.removesuffix(REST), distinct_cuts(cuts)
    sample = distinct[:: SAMPLED[name]]
    if name == backend:
        return sample
    # On moto, where a run takes a tenth of a second, those with the same effect are made once.
    return [cut for cut in (distinct if name == "moto" else cuts) if cut not in sample]


def play(scenario: Scenario, where: Where, cut: Point | None = None) -> list[Point]:
    """Runs the scenario once and returns every possible cut of it."""
    with open_backend(*where) as backend:
        player = ScenarioPlayer(backend, Cutter(cut), scenario.fails)
        scenario.play(player, scenario)
        player.run_to_rest()
        assert (player.cut_actor is None) == (cut is None)
        task_invariants.check(player, scenario)
        return possible_cuts(player.cutter.calls, halves=backend.halves)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_life_comes_to_its_end_wherever_it_is_cut(
    name: str, where: Where, subtests: pytest.Subtests
) -> None:
    scenario, (backend, _) = SCENARIOS[name], where
    cuts = play(scenario, where)
    for cut in choose_cuts(cuts, backend):
        with subtests.test(f"{name}, {backend}, {cut}"):
            play(scenario, where, cut)


def play_schedule(
    scenario: ScheduleScenario, where: Where, cut: Point | None = None
) -> list[Point]:
    with open_backend(*where) as backend:
        player = SchedulePlayer(backend, Cutter(cut), scenario.fails)
        scenario.play(player)
        player.run_to_rest()
        schedule_scenarios.check(player, scenario)
        return possible_cuts(player.cutter.calls, halves=backend.halves)


@pytest.mark.parametrize("name", SCHEDULE_SCENARIOS)
def test_a_schedule_comes_to_its_end_wherever_it_is_cut(
    name: str, where: Where, subtests: pytest.Subtests
) -> None:
    scenario, (backend, _) = SCHEDULE_SCENARIOS[name], where
    cuts = play_schedule(scenario, where)
    for cut in choose_cuts(cuts, backend):
        with subtests.test(f"{name}, {backend}, {cut}"):
            play_schedule(scenario, where, cut)
