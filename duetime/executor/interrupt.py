"""An interrupt for a handler that does not stop when it is asked to."""

import ctypes
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from time import sleep
from typing import TypeVar

from duetime.core.errors import Stopped

log = logging.getLogger(__name__)

T = TypeVar("T")
StopAction = Callable[[], object]

# In these modules a thread may just have acquired a lock, which it would then never release.
DELICATE = ("logging", "threading", "queue", "importlib._bootstrap")
DELICATE_CHECKS = 10  # before the thread is interrupted all the same
CHECK_INTERVAL = 0.001  # seconds

# By index: this creates a function object of our own, so its types affect no other caller.
_raise_in_thread = ctypes.pythonapi["PyThreadState_SetAsyncExc"]
_raise_in_thread.argtypes = (ctypes.c_ulong, ctypes.py_object)
_NO_EXCEPTION = ctypes.py_object()


class Interrupt:
    """Stops one run, at most once.

    `_stop_actions` holds at most one way to stop the handler. Two threads race to pop it: the
    handler's thread, when the handler has ended, and the thread that triggers. The winner decides.
    A handler's thread that loses waits until the trigger has finished, so that an exception for
    this run never hits the next run in the same thread. There is no lock, because an asynchronous
    exception may arrive while the thread holds it."""

    __slots__ = (
        "_armed",
        "_attempt",
        "_finished",
        "_stop_actions",
        "_task_id",
        "_thread",
        "triggered",
    )

    def __init__(self, task_id: str | None = None, attempt: int | None = None) -> None:
        self._task_id = task_id
        self._attempt = attempt
        self._stop_actions: list[StopAction] = []
        self._armed = False  # only the handler's thread reads it
        self._thread: int | None = None  # in which a trigger raises Stopped
        self._finished = False  # the trigger has done its work
        self.triggered = False

    def trigger(self) -> None:
        """Stop the handler. Any other thread may call this at any time; a run that has not begun
        then does not begin."""
        self.triggered = True
        try:
            stop = self._stop_actions.pop()
        except IndexError:
            return
        try:
            stop()
        except Exception:
            # The caller also looks after other runs.
            fields = {"step": "execute", "task_id": self._task_id, "attempt": self._attempt}
            log.exception("handler not stopped", extra=fields)
        finally:
            self._finished = True

    def run(self, act: Callable[[], T]) -> T:
        """Run a handler. A trigger raises Stopped in this thread, inside of `act` or never."""
        try:
            self._arm_thread()
            return act()
        finally:
            self.disarm()

    @contextmanager
    def stopping_with(self, stop: StopAction) -> Iterator[None]:
        """Stop the block with `stop` instead, called in the thread that triggers."""
        self.disarm()
        try:
            self._arm(stop)
            yield
        finally:
            self.disarm()

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Protect a block that must not be cut off: a trigger takes effect before or after it."""
        if self._thread != get_ident():
            yield
            return
        self.disarm()
        self._check()
        try:
            yield
        finally:
            self._arm_thread()

    def arm(self, stop: StopAction) -> None:
        """Have a trigger call `stop`, until `disarm`, for a handler that runs in another process.
        Raises Stopped if the trigger has come already."""
        self._arm(stop)

    def disarm(self) -> None:
        """Make later triggers do nothing, and drop an exception that has not arrived yet."""
        if not self._armed:
            return
        try:
            self._stop_actions.pop()
        except IndexError:
            while not self._finished:
                sleep(0)
            _raise_in_thread(get_ident(), _NO_EXCEPTION)
        self._armed = False
        self._thread = None

    def _arm_thread(self) -> None:
        self._thread = get_ident()
        self._arm(partial(_stop_thread, self._thread))

    def _arm(self, stop: StopAction) -> None:
        self._check()
        self._armed = True
        self._stop_actions.append(stop)
        self._check()  # a trigger between the two lines above found no action

    def _check(self) -> None:
        if self.triggered:
            raise Stopped


def _stop_thread(thread: int) -> None:
    if thread == get_ident():
        return  # a thread does not interrupt itself
    for _ in range(DELICATE_CHECKS):
        if not _is_delicate(thread):
            break
        sleep(CHECK_INTERVAL)
    _raise_in_thread(thread, ctypes.py_object(Stopped))


def _is_delicate(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    return frame is not None and frame.f_globals.get("__name__") in DELICATE
