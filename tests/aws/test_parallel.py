from threading import Barrier, Event, Timer, get_ident

import pytest

from duetime.aws import clients
from duetime.aws.parallel import ParallelCalls


@pytest.fixture
def parallel():
    parallel = ParallelCalls(4)
    yield parallel
    parallel.close()


def test_answers_come_in_order(parallel: ParallelCalls):
    assert parallel.each(lambda n: n * n, range(10)) == [n * n for n in range(10)]
    assert parallel.each(lambda n: n, []) == []


def test_calls_run_side_by_side(parallel: ParallelCalls):
    together = Barrier(4, timeout=60)

    parallel.each(lambda _: together.wait(), range(4))


def test_a_slow_call_delays_no_other_and_every_value_is_taken_once(parallel: ParallelCalls):
    others_done, taken = Event(), []

    def call(number: int) -> None:
        if number == 0:
            assert others_done.wait(60)
        taken.append(number)
        if len(taken) == 99:
            others_done.set()

    parallel.each(call, range(100))
    assert sorted(taken) == list(range(100))


def test_a_single_call_runs_in_the_callers_thread(parallel: ParallelCalls):
    assert parallel.each(lambda _: get_ident(), ["one"]) == [get_ident()]


def test_every_value_is_tried_before_a_failure_rises(parallel: ParallelCalls):
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
        parallel.each(call, range(6))
    assert sorted(tried) == [1, 2, 3, 4, 5]


def test_an_interrupt_is_raised_too(parallel: ParallelCalls):
    def call(number: int) -> None:
        if number == 1:
            raise SystemExit

    with pytest.raises(SystemExit):
        parallel.each(call, range(3))


@pytest.mark.parametrize(
    ("memory", "width"),
    [("128", 4), ("256", 4), ("512", 5), ("1024", 10), ("1769", 16), ("3538", 32), ("10240", 32)],
)
def test_width_goes_by_the_cpu_of_the_function(
    memory: str, width: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", memory)
    assert ParallelCalls().width == width


def test_off_lambda_as_many_calls_run_as_there_may_be_connections(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", raising=False)
    assert ParallelCalls().width == clients.POOL_SIZE
