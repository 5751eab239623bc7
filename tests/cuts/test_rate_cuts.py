"""Tasks that wait for their rate limit: wherever their executor or the scanner is cut, each starts,
and no two start closer together than the rate allows."""

from itertools import pairwise

import pytest

from duetime.core.limits.definition import LimitUse
from duetime.core.times import MINUTE, SECOND, Millis
from tests.cuts import task_invariants
from tests.cuts.backends import open_backend
from tests.cuts.cut_points import Cutter, Point, possible_cuts
from tests.cuts.scenario_player import ScenarioPlayer
from tests.cuts.task_scenarios import FIRST, WATCHED, Scenario, goes_its_way
from tests.cuts.test_every_cut import Where, aws, choose_cuts, where  # noqa: F401 - fixtures
from tests.limits import a_limit

UNDER = {"limits": (LimitUse(name="stripe"),)}
SCENARIOS: dict[str, tuple[Millis, Scenario]] = {
    "resent": (
        20 * SECOND,
        Scenario(
            play=goes_its_way,
            tasks=3,
            fields=UNDER,
            waits=True,
            late=40 * SECOND,
            late_when_cut=WATCHED + 2 * MINUTE,
        ),
    ),
    "deferred": (
        200 * SECOND,
        Scenario(
            play=goes_its_way, tasks=3, fields=UNDER, waits=True, late_when_cut=WATCHED + MINUTE
        ),
    ),
    "retried": (
        20 * SECOND,
        Scenario(
            play=goes_its_way,
            fails=FIRST,
            fields=UNDER,
            waits=True,
            late=MINUTE,
            late_when_cut=WATCHED + 2 * MINUTE,
        ),
    ),
}


def play(name: str, where: Where, cut: Point | None = None) -> list[Point]:  # noqa: F811
    interval, scenario = SCENARIOS[name]
    with open_backend(*where) as backend:
        backend.world.limits.put(a_limit(count=1, period=interval))
        player = ScenarioPlayer(backend, Cutter(cut), scenario.fails)
        scenario.play(player, scenario)
        player.run_to_rest()
        assert (player.cut_actor is None) == (cut is None)
        task_invariants.check(player, scenario)
        starts = sorted(a.started_at for i in player.ids for a in player.world.attempts(i))
        assert all(after - before >= interval for before, after in pairwise(starts))
        return possible_cuts(player.cutter.calls, halves=backend.halves)


@pytest.mark.parametrize("name", SCENARIOS)
def test_task_gets_its_time_wherever_it_is_cut(
    name: str,
    where: Where,  # noqa: F811
    subtests: pytest.Subtests,
) -> None:
    cuts = play(name, where)
    for cut in choose_cuts(cuts, where[0]):
        with subtests.test(f"{name}, {where[0]}, {cut}"):
            play(name, where, cut)
