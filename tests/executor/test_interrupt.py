"""The interrupt with real threads: one that is meant for a run hits no other run."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from time import sleep

import pytest

from duetime.core.errors import Stopped
from duetime.executor import interrupt as interrupts
from duetime.executor.call_handler import call_handler
from duetime.executor.interrupt import Interrupt
from duetime.executor.run_control import RunControl
from tests.factories import a_handler, a_running_task

PATIENCE = 60.0  # seconds; a wait that long is a failure
ROUNDS = 2_000


@pytest.fixture
def control() -> RunControl:
    return RunControl(a_running_task(), lambda progress: None)


class Thread(threading.Thread):
    """A thread that keeps the result or the exception of its function."""

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


def test_a_busy_handler_is_stopped(control: RunControl):
    running = threading.Event()

    def busy():
        running.set()
        while True:
            pass

    thread = Thread(lambda: control.interrupt.run(busy))
    assert running.wait(PATIENCE)
    control.force_stop()

    assert isinstance(thread.ended(), Stopped)


def test_interrupted_handler_may_tidy_up(control: RunControl):
    running, tidied = threading.Event(), []

    def busy():
        running.set()
        try:
            while True:
                pass
        except Exception:  # noqa: BLE001
            tidied.append("never: it is no Exception")
        except Stopped:
            tidied.append("yes")
            raise

    thread = Thread(lambda: control.interrupt.run(busy))
    assert running.wait(PATIENCE)
    control.force_stop()

    assert isinstance(thread.ended(), Stopped)
    assert tidied == ["yes"]


def test_handler_that_catches_the_interrupt_is_not_interrupted_twice(control: RunControl):
    running, interrupted = threading.Event(), threading.Event()

    def stubborn():
        try:
            running.set()
            while True:
                pass
        except Stopped:
            interrupted.set()
        return "done"

    thread = Thread(lambda: control.interrupt.run(stubborn))
    assert running.wait(PATIENCE)
    control.force_stop()
    assert interrupted.wait(PATIENCE)
    control.force_stop()

    assert thread.ended() == "done"


def test_a_run_that_was_interrupted_before_it_began_does_not_begin(control: RunControl):
    ran = []
    control.force_stop()

    with pytest.raises(Stopped):
        control.interrupt.run(lambda: ran.append("no"))
    assert ran == []


def test_interrupt_after_the_end_of_a_run_does_nothing(control: RunControl):
    over, go = threading.Event(), threading.Event()

    def lives_on():
        result = control.interrupt.run(lambda: "result")
        over.set()
        assert go.wait(PATIENCE)
        spin(10_000)
        return result

    thread = Thread(lives_on)
    assert over.wait(PATIENCE)
    control.force_stop()
    go.set()

    assert thread.ended() == "result"


def test_thread_does_not_interrupt_itself(control: RunControl):
    def interrupts_itself():
        control.force_stop()
        spin(1_000)
        return "done"

    assert control.interrupt.run(interrupts_itself) == "done"


def test_handler_that_cannot_be_stopped_is_logged_with_its_ids(
    control: RunControl, caplog: pytest.LogCaptureFixture
):
    def fail() -> None:
        raise OSError("no such process")

    with control.interrupt.stopping_with(fail):
        control.interrupt.trigger()

    [record] = caplog.records
    ids = (control.context.task_id, control.context.attempt)
    assert (record.message, record.task_id, record.attempt) == ("handler not stopped", *ids)


def test_shielded_call_is_not_interrupted(control: RunControl):
    """The store may be in the middle of a write for several threads."""
    inside, triggered, written = threading.Event(), threading.Event(), []

    def write(progress):
        inside.set()
        assert triggered.wait(PATIENCE)
        spin(10_000)
        written.append(progress.fraction)

    control._renew = write
    after = []

    def reports():
        control.context.progress(0.5)
        after.append("no")

    thread = Thread(lambda: control.interrupt.run(reports))
    assert inside.wait(PATIENCE)
    control.force_stop()
    triggered.set()

    assert isinstance(thread.ended(), Stopped)
    assert (written, after) == ([0.5], [])


def test_thread_that_a_handler_starts_is_neither_shielded_nor_interrupted(control: RunControl):
    def reports_from_elsewhere():
        Thread(control.context.heartbeat).ended()
        return "done"

    assert control.interrupt.run(reports_from_elsewhere) == "done"


# async


def test_an_async_handler_is_cancelled(control: RunControl):
    running, tidied = threading.Event(), []

    async def waits(payload, ctx):
        running.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            tidied.append("yes")
            raise

    thread = Thread(
        lambda: control.interrupt.run(lambda: call_handler(a_handler(waits), None, control))
    )
    assert running.wait(PATIENCE)
    control.force_stop()

    stopped = thread.ended()
    assert isinstance(stopped, Stopped)
    assert tidied == ["yes"]
    frames = [frame.f_code.co_name for frame, _ in walk(stopped)]
    assert "waits" in frames, "where it was is worth knowing"


def test_async_handler_that_cancels_itself_does_not_count_as_interrupted(control: RunControl):
    async def gives_up(payload, ctx):
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        control.interrupt.run(lambda: call_handler(a_handler(gives_up), None, control))


def test_an_async_handler_interrupted_before_its_loop_runs_does_not_begin(control: RunControl):
    ran = []

    async def handler(payload, ctx):
        ran.append("no")

    def makes_coroutine(payload, ctx):
        control.force_stop()  # by itself, so that only the flag is left
        return handler(payload, ctx)

    with pytest.raises(Stopped):
        control.interrupt.run(lambda: call_handler(a_handler(makes_coroutine), None, control))
    assert ran == []


# the race


def test_thread_waits_for_a_trigger_that_is_under_way(control, monkeypatch):
    """The handler ends after the trigger has won the race and before it raises."""
    won, waits, strike, struck = (threading.Event() for _ in range(4))

    def hesitate(thread: int) -> bool:
        won.set()
        assert strike.wait(PATIENCE)
        return False

    def handler():
        running.set()
        assert won.wait(PATIENCE)

    def lives_on():
        try:
            control.interrupt.run(handler)
        except Stopped:
            inside.append("yes")
        assert struck.wait(PATIENCE)
        spin(10_000)

    running, inside = threading.Event(), []
    monkeypatch.setattr(interrupts, "_is_delicate", hesitate)
    monkeypatch.setattr(interrupts, "sleep", lambda _: waits.set())
    thread = Thread(lives_on)
    assert running.wait(PATIENCE)
    trigger = Thread(control.force_stop)
    waits.wait(1)  # it need not wait
    strike.set()
    trigger.ended()
    struck.set()

    assert thread.ended() is None
    assert inside == ["yes"]


@pytest.mark.parametrize(("module", "delicate"), [("logging", True), ("shop", False)])
def test_trigger_recognises_code_that_may_just_have_acquired_a_lock(module, delicate):
    """A thread that writes a log line holds a lock that all others need."""
    running, leave = threading.Event(), []

    def handler():
        running.set()
        exec("while not leave: pass", {"__name__": module, "leave": leave})

    thread = threading.Thread(target=handler)
    thread.start()
    assert running.wait(PATIENCE)
    looks = [interrupts._is_delicate(thread.ident) for _ in range(1_000)]
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
def test_interrupt_never_hits_the_next_run():
    runs = Runs()
    thread = Thread(runs.all)
    for _ in range(ROUNDS):
        while (interrupt := runs.interrupt).triggered and thread.is_alive():
            sleep(0)
        interrupt.trigger()
    runs.over = True

    assert thread.ended() is None, "it was hit between two runs"
    assert runs.stopped > 0, "no run was ever interrupted"


class Runs:
    """One run after the other in one thread, each so short that a trigger may hit any point of it.
    Stopped may only be raised inside of the run that it is meant for."""

    def __init__(self) -> None:
        self.interrupt = Interrupt()
        self.over = False
        self.stopped = 0

    def all(self) -> None:
        while not self.over:
            self.interrupt = interrupt = Interrupt()
            try:
                interrupt.run(lambda: spin(3))
            except Stopped:
                assert interrupt.triggered
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
