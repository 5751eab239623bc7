"""Making a handler stop that does not do so when it is told."""

import ctypes
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from time import sleep
from typing import TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")
Means = Callable[[], object]

# Here a thread may just have acquired what others wait for, and would never let go of it.
DELICATE = ("logging", "threading", "queue", "importlib._bootstrap")
LOOKS = 10
BETWEEN_LOOKS = 0.001

# By index: an object of our own, whose types are nobody else's business.
_raise_in_thread = ctypes.pythonapi["PyThreadState_SetAsyncExc"]
_raise_in_thread.argtypes = (ctypes.c_ulong, ctypes.py_object)
_NOTHING = ctypes.py_object()


class Stopped(BaseException):
    """Raised inside a handler that was told to stop and went on. Catch it to tidy up, and raise
    it again. It is no Exception, so that `except Exception` does not hold it up."""


class Brake:
    """What makes one run stop. A second pull does nothing.

    `_means` holds at most one way to stop the handler, and whoever pops it has won: the thread,
    when its handler is over, or the one who pulls. A thread that has lost stays until the pull
    is through, so that what is meant for this run never meets the next one in the same thread.
    There is no lock, because an exception from nowhere may come while the thread holds it."""

    __slots__ = ("_armed", "_attempt", "_means", "_task_id", "_thread", "_through", "pulled")

    def __init__(self, task_id: str | None = None, attempt: int | None = None) -> None:
        self._task_id = task_id
        self._attempt = attempt
        self._means: list[Means] = []
        self._armed = False  # only the thread itself looks at it
        self._thread: int | None = None  # in which a pull raises Stopped
        self._through = False
        self.pulled = False

    def pull(self) -> None:
        """From any other thread, at any time. A run that has not begun then does not begin."""
        self.pulled = True
        try:
            means = self._means.pop()
        except IndexError:
            return
        try:
            means()
        except Exception:
            # Who pulls has others to look after.
            fields = {"step": "execute", "task_id": self._task_id, "attempt": self._attempt}
            log.exception("handler not stopped", extra=fields)
        finally:
            self._through = True

    def guard(self, act: Callable[[], T]) -> T:
        """Run a handler; a pull raises Stopped in this thread, in here or not at all."""
        try:
            self._arm_thread()
            return act()
        finally:
            self.release()

    @contextmanager
    def by(self, means: Means) -> Iterator[None]:
        """Another way to stop what is inside; `means` runs in the thread of who pulls."""
        self.release()
        try:
            self._arm(means)
            yield
        finally:
            self.release()

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Around what must not be cut off in the middle: a pull takes effect before or after."""
        if self._thread != get_ident():
            yield
            return
        self.release()
        self._check()
        try:
            yield
        finally:
            self._arm_thread()

    def release(self) -> None:
        """From here on a pull reaches nobody; what it sent and has not arrived is dropped."""
        if not self._armed:
            return
        try:
            self._means.pop()
        except IndexError:
            while not self._through:
                sleep(0)
            _raise_in_thread(get_ident(), _NOTHING)
        self._armed = False
        self._thread = None

    def _arm_thread(self) -> None:
        self._thread = get_ident()
        self._arm(partial(_stop_thread, self._thread))

    def _arm(self, means: Means) -> None:
        self._check()
        self._armed = True
        self._means.append(means)
        self._check()  # whoever pulled in between found nothing

    def _check(self) -> None:
        if self.pulled:
            raise Stopped


def _stop_thread(thread: int) -> None:
    if thread == get_ident():
        return  # it would hit the one who pulls
    for _ in range(LOOKS):
        if not _is_delicate(thread):
            break
        sleep(BETWEEN_LOOKS)
    _raise_in_thread(thread, ctypes.py_object(Stopped))


def _is_delicate(thread: int) -> bool:
    frame = sys._current_frames().get(thread)
    return frame is not None and frame.f_globals.get("__name__") in DELICATE
