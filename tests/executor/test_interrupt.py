"""The brake, with real threads: what is meant for one run meets no other."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from time import sleep

import pytest

from lambdas.executor import stopping
from lambdas.executor.calling import call
from lambdas.executor.context import Context
from lambdas.executor.stopping import Brake, Stopped
from tests.factories import a_running_task

PATIENCE = 60.0  # seconds; whoever waits that long has failed
ROUNDS = 2_000


@pytest.fixture
def context() -> Context:
    return Context(a_running_task(), lambda progress: None)


class Thread(threading.Thread):
    """A thread that keeps what came out of it."""

    def __init__(self, act) -> None:
        super().__init__(daemon=True)
        self._act = act
        self.outcome: object = None
        self.start()

    def run(self) -> None:
        try:
            self.outcome = self._act()
        except BaseException as error:  # noqa: BLE001
            self.outcome = error

    def ended(self) -> object:
        self.join(PATIENCE)
        assert not self.is_alive()
        return self.outcome


def test_a_busy_handler_is_stopped(context: Context):
    begun = threading.Event()

    def busy():
        begun.set()
        while True:
            pass

    thread = Thread(lambda: context.brake.guard(busy))
    assert begun.wait(PATIENCE)
    context.interrupt()

    assert isinstance(thread.ended(), Stopped)


def test_a_handler_may_tidy_up(context: Context):
    begun, tidied = threading.Event(), []

    def busy():
        begun.set()
        try:
            while True:
                pass
        except Exception:  # noqa: BLE001
            tidied.append("never: it is no Exception")
        except Stopped:
            tidied.append("yes")
            raise

    thread = Thread(lambda: context.brake.guard(busy))
    assert begun.wait(PATIENCE)
    context.interrupt()

    assert isinstance(thread.ended(), Stopped)
    assert tidied == ["yes"]


def test_a_handler_that_will_not_be_stopped_is_not_hit_twice(context: Context):
    begun, held_up = threading.Event(), threading.Event()

    def stubborn():
        try:
            begun.set()
            while True:
                pass
        except Stopped:
            held_up.set()
        return "done"

    thread = Thread(lambda: context.brake.guard(stubborn))
    assert begun.wait(PATIENCE)
    context.interrupt()
    assert held_up.wait(PATIENCE)
    context.interrupt()

    assert thread.ended() == "done"


def test_a_run_that_was_interrupted_before_it_began_does_not_begin(context: Context):
    ran = []
    context.interrupt()

    with pytest.raises(Stopped):
        context.brake.guard(lambda: ran.append("no"))
    assert ran == []


def test_a_run_that_is_over_is_left_alone(context: Context):
    over, go = threading.Event(), threading.Event()

    def lives_on():
        result = context.brake.guard(lambda: "result")
        over.set()
        assert go.wait(PATIENCE)
        spin(10_000)
        return result

    thread = Thread(lives_on)
    assert over.wait(PATIENCE)
    context.interrupt()
    go.set()

    assert thread.ended() == "result"


def test_nobody_stops_himself(context: Context):
    def pulls():
        context.interrupt()
        spin(1_000)
        return "done"

    assert context.brake.guard(pulls) == "done"


def test_handler_that_cannot_be_stopped_is_logged_with_its_ids(
    context: Context, caplog: pytest.LogCaptureFixture
):
    def fail() -> None:
        raise OSError("no such process")

    with context.brake.by(fail):
        context.brake.pull()

    [record] = caplog.records
    ids = (context.task_id, context.attempt)
    assert (record.message, record.task_id, record.attempt) == ("handler not stopped", *ids)


def test_what_is_shielded_is_not_cut_off(context: Context):
    """The store may be in the middle of a write of which other threads are a part."""
    inside, pulled, written = threading.Event(), threading.Event(), []

    def write(progress):
        inside.set()
        assert pulled.wait(PATIENCE)
        spin(10_000)
        written.append(progress.fraction)

    context._renew = write
    after = []

    def reports():
        context.progress(0.5)
        after.append("no")

    thread = Thread(lambda: context.brake.guard(reports))
    assert inside.wait(PATIENCE)
    context.interrupt()
    pulled.set()

    assert isinstance(thread.ended(), Stopped)
    assert (written, after) == ([0.5], [])


def test_a_thread_of_the_handler_is_neither_shielded_nor_hit(context: Context):
    def reports_from_elsewhere():
        Thread(context.heartbeat).ended()
        return "done"

    assert context.brake.guard(reports_from_elsewhere) == "done"


# async


def test_an_async_handler_is_cancelled(context: Context):
    begun, tidied = threading.Event(), []

    async def waits(payload, ctx):
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            tidied.append("yes")
            raise

    thread = Thread(lambda: context.brake.guard(lambda: call(waits, None, context)))
    assert begun.wait(PATIENCE)
    context.interrupt()

    stopped = thread.ended()
    assert isinstance(stopped, Stopped)
    assert tidied == ["yes"]
    frames = [frame.f_code.co_name for frame, _ in walk(stopped)]
    assert "waits" in frames, "where it was is worth knowing"


def test_an_async_handler_that_cancels_itself_was_not_stopped(context: Context):
    async def gives_up(payload, ctx):
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        context.brake.guard(lambda: call(gives_up, None, context))


def test_an_async_handler_interrupted_before_its_loop_runs_does_not_begin(context: Context):
    ran = []

    async def handler(payload, ctx):
        ran.append("no")

    def makes_coroutine(payload, ctx):
        ctx.interrupt()  # by itself, so that only the flag is left
        return handler(payload, ctx)

    with pytest.raises(Stopped):
        context.brake.guard(lambda: call(makes_coroutine, None, context))
    assert ran == []


# the race


def test_a_thread_stays_until_a_pull_that_is_under_way_is_through(context, monkeypatch):
    """The handler ends between the moment when the pull has won and the one when it strikes."""
    won, waits, strike, struck = (threading.Event() for _ in range(4))

    def hesitate(thread: int) -> bool:
        won.set()
        assert strike.wait(PATIENCE)
        return False

    def handler():
        begun.set()
        assert won.wait(PATIENCE)

    def lives_on():
        try:
            context.brake.guard(handler)
        except Stopped:
            inside.append("yes")
        assert struck.wait(PATIENCE)
        spin(10_000)

    begun, inside = threading.Event(), []
    monkeypatch.setattr(stopping, "_is_delicate", hesitate)
    monkeypatch.setattr(stopping, "sleep", lambda _: waits.set())
    thread = Thread(lives_on)
    assert begun.wait(PATIENCE)
    puller = Thread(context.interrupt)
    waits.wait(1)  # it need not come to that
    strike.set()
    puller.ended()
    struck.set()

    assert thread.ended() is None
    assert inside == ["yes"]


@pytest.mark.parametrize(("module", "delicate"), [("logging", True), ("shop", False)])
def test_a_pull_knows_where_something_may_just_have_been_acquired(module, delicate):
    """A log line holds up all the others for as long as it is written."""
    begun, leave = threading.Event(), []

    def handler():
        begun.set()
        exec("while not leave: pass", {"__name__": module, "leave": leave})

    thread = threading.Thread(target=handler)
    thread.start()
    assert begun.wait(PATIENCE)
    looks = [stopping._is_delicate(thread.ident) for _ in range(1_000)]
    leave.append(True)
    thread.join(PATIENCE)

    assert (looks[-1], set(looks) <= {True, False}) == (delicate, True)


@pytest.fixture
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_switching_often")
def test_an_interrupt_never_meets_the_next_run():
    runs = Runs()
    thread = Thread(runs.all)
    for _ in range(ROUNDS):
        while (brake := runs.brake).pulled and thread.is_alive():
            sleep(0)
        brake.pull()
    runs.over = True

    assert thread.ended() is None, "it was hit between two runs"
    assert runs.stopped > 0, "nobody was ever hit"


class Runs:
    """One run after the other in one thread, each so short that a pull may come at any point of
    it. Only inside its own guard may Stopped be raised."""

    def __init__(self) -> None:
        self.brake = Brake()
        self.over = False
        self.stopped = 0

    def all(self) -> None:
        while not self.over:
            self.brake = brake = Brake()
            try:
                brake.guard(lambda: spin(3))
            except Stopped:
                assert brake.pulled
                self.stopped += 1
            spin(3)


def spin(rounds: int) -> None:
    for _ in range(rounds):
        pass


def walk(error: BaseException):
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
