from threading import Barrier, Event, Timer, get_ident

import pytest

from lambdas.aws import clients
from lambdas.aws.fan_out import FanOut


@pytest.fixture
def fan_out():
    fan_out = FanOut(4)
    yield fan_out
    fan_out.close()


def test_answers_come_in_order(fan_out: FanOut):
    assert fan_out.each(lambda n: n * n, range(10)) == [n * n for n in range(10)]
    assert fan_out.each(lambda n: n, []) == []


def test_calls_run_side_by_side(fan_out: FanOut):
    together = Barrier(4, timeout=60)

    fan_out.each(lambda _: together.wait(), range(4))


def test_a_slow_call_holds_nobody_up_and_every_value_is_taken_once(fan_out: FanOut):
    others_done, taken = Event(), []

    def call(number: int) -> None:
        if number == 0:
            assert others_done.wait(60)
        taken.append(number)
        if len(taken) == 99:
            others_done.set()

    fan_out.each(call, range(100))
    assert sorted(taken) == list(range(100))


def test_one_alone_runs_in_the_callers_thread(fan_out: FanOut):
    assert fan_out.each(lambda _: get_ident(), ["one"]) == [get_ident()]


def test_every_value_is_tried_before_a_failure_rises(fan_out: FanOut):
    tried = []
    go_on = Event()
    Timer(0.05, go_on.set).start()

    def call(number: int) -> None:
        if number == 0:
            raise LookupError("the first fails at once")
        go_on.wait(60)
        tried.append(number)
        if number == 3:
            raise LookupError("a later one")

    with pytest.raises(LookupError, match="the first"):
        fan_out.each(call, range(6))
    assert sorted(tried) == [1, 2, 3, 4, 5]


def test_what_stops_a_program_rises_too(fan_out: FanOut):
    def call(number: int) -> None:
        if number == 1:
            raise SystemExit

    with pytest.raises(SystemExit):
        fan_out.each(call, range(3))


@pytest.mark.parametrize(
    ("memory", "width"),
    [("128", 4), ("256", 4), ("512", 5), ("1024", 10), ("1769", 16), ("3538", 32), ("10240", 32)],
)
def test_width_goes_by_the_cpu_of_the_function(
    memory: str, width: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", memory)
    assert FanOut().width == width


def test_off_lambda_as_many_calls_run_as_there_may_be_connections(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", raising=False)
    assert FanOut().width == clients.POOL_SIZE
