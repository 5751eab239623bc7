"""Every cut: for the whole life of a task, whoever acts is cut before and after each call to a
backend, once a run, and the life must come to its end all the same.

An uncut run counts the calls. A cut that fails names its life, its backend and its call. On moto,
where a run takes a tenth of a second, cuts that leave the same behind are made once, unless
DUETIME_TEST_EVERY_CUT is set.
"""

import os
from collections.abc import Iterator

import pytest

from duetime.local.moto_backend import fair_moto
from lambdas.aws import clients
from lambdas.aws.resources import ensure_resources
from tests.cuts import laws, recurring
from tests.cuts.backends import Aws, opened
from tests.cuts.cutting import Knife, Point, distinct, points
from tests.cuts.lives import LIVES, Life
from tests.cuts.recurring import RECURRING, Recurring, RecurringStage
from tests.cuts.stage import Stage

BACKENDS = ["embedded", "restarted", "moto"]
ALL = "DUETIME_TEST_EVERY_CUT" in os.environ

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
    return name, request.getfixturevalue("aws") if name == "moto" else None


def play(life: Life, where: Where, cut: Point | None = None) -> list[Point]:
    """One run; returns all the cuts that it offers."""
    with opened(*where) as backend:
        stage = Stage(backend, Knife(cut), life.fails)
        life.play(stage, life)
        stage.settle()
        assert (stage.cut_actor is None) == (cut is None)
        laws.hold(stage, life)
        return points(stage.knife.calls, halves=backend.halves)


@pytest.mark.parametrize("name", LIVES)
def test_a_life_comes_to_its_end_wherever_it_is_cut(
    name: str, where: Where, subtests: pytest.Subtests
) -> None:
    life, (backend, aws) = LIVES[name], where
    cuts = play(life, where)
    for cut in cuts if ALL or aws is None else distinct(cuts):
        with subtests.test(f"{name}, {backend}, {cut}"):
            play(life, where, cut)


def play_recurring(life: Recurring, where: Where, cut: Point | None = None) -> list[Point]:
    with opened(*where) as backend:
        stage = RecurringStage(backend, Knife(cut), life.fails)
        life.play(stage)
        stage.settle()
        recurring.hold(stage, life)
        return points(stage.knife.calls, halves=backend.halves)


@pytest.mark.parametrize("name", RECURRING)
def test_a_schedule_comes_to_its_end_wherever_it_is_cut(
    name: str, where: Where, subtests: pytest.Subtests
) -> None:
    life, (backend, aws) = RECURRING[name], where
    cuts = play_recurring(life, where)
    for cut in cuts if ALL or aws is None else distinct(cuts):
        with subtests.test(f"{name}, {backend}, {cut}"):
            play_recurring(life, where, cut)
