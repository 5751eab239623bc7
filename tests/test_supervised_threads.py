"""A thread that fails is restarted, or stops the runner."""

import logging
import threading
from collections.abc import Callable, Iterator

import pytest

from duetime import supervised_threads
from duetime.supervised_threads import MAX_RESTARTS, RESTART_WINDOW, Restarts, SupervisedThread

PATIENCE = 60  # seconds: a test that waits so long has failed


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised_threads, "FIRST_RESTART_PAUSE", 0.001)


@pytest.fixture
def broken_logging() -> Iterator[None]:
    """As Rich does when it cannot import what it needs."""

    class Raising(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError("Too many open files")

    handler = Raising()
    logging.getLogger().addHandler(handler)
    yield
    logging.getLogger().removeHandler(handler)


class Failing:
    """Fails so many times, then waits to be stopped."""

    def __init__(self, times: int, error: BaseException) -> None:
        self.left = times
        self.error = error
        self.runs = 0
        self.settled = threading.Event()
        self.stopping = threading.Event()
        self.failed = threading.Event()
        self.reasons: list[str] = []

    def __call__(self) -> None:
        self.runs += 1
        if self.left:
            self.left -= 1
            raise self.error
        self.settled.set()
        assert self.stopping.wait(PATIENCE)

    def fail(self, reason: str) -> None:
        self.reasons.append(reason)
        self.failed.set()

    def thread(self, **options: int) -> SupervisedThread:
        thread = SupervisedThread(
            self, "poll-high", stopping=self.stopping, on_failure=self.fail, **options
        )
        thread.start()
        return thread


ERRORS = [ValueError("a bug"), MemoryError(), SystemExit(3), KeyboardInterrupt()]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.usefixtures("broken_logging")
def test_thread_that_fails_is_started_again(error: BaseException):
    failing = Failing(MAX_RESTARTS, error)
    thread = failing.thread()

    assert failing.settled.wait(PATIENCE)
    assert (thread.failure_reason, failing.runs, failing.reasons) == (None, MAX_RESTARTS + 1, [])
    failing.stopping.set()
    thread.join(PATIENCE)
    assert thread.failure_reason


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.usefixtures("broken_logging")
def test_thread_that_fails_too_often_ends_the_runner(error: BaseException):
    failing = Failing(MAX_RESTARTS + 1, error)
    thread = failing.thread()

    assert failing.failed.wait(PATIENCE)
    thread.join(PATIENCE)
    assert thread.failure_reason
    [reason] = failing.reasons
    assert reason.startswith(f"the thread poll-high failed: {type(error).__name__}")


def test_thread_that_may_not_start_again_ends_the_runner_at_once():
    failing = Failing(1, ValueError("a bug"))
    thread = failing.thread(restarts=0)

    assert failing.failed.wait(PATIENCE)
    thread.join(PATIENCE)
    assert (failing.runs, failing.reasons) == (
        1,
        ["the thread poll-high failed: ValueError: a bug"],
    )


def returning(failing: Failing) -> Callable[[], None]:
    return lambda: None


def test_thread_that_returns_before_its_time_has_failed():
    failing = Failing(0, ValueError())
    thread = SupervisedThread(
        returning(failing), "tick", stopping=failing.stopping, on_failure=failing.fail
    )
    thread.start()

    assert failing.failed.wait(PATIENCE)
    assert failing.reasons == ["the thread tick failed: it ended"]


def test_pauses_grow_and_old_failures_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervised_threads, "FIRST_RESTART_PAUSE", 0.5)
    restarts = Restarts(3)

    assert [restarts.pause(at) for at in (0.0, 1.0, 2.0)] == [0.5, 1.0, 2.0]
    assert restarts.pause(3.0) is None
    assert Restarts(0).pause(0.0) is None
    slow = Restarts(3)
    assert [slow.pause(n * RESTART_WINDOW) for n in range(10)] == [0.5] * 10
