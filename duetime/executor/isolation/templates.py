"""The templates of isolated handlers that an executor keeps: one for each attempt at a time.

A template is a process that forks for attempts (`__main__.py`). Attempts wait in a queue for a
template that another attempt is done with. More templates than cores help handlers that wait. They
do not help handlers that compute: these would only take the cores from each other. So an attempt
gets one more than there are cores only if a core is idle or the queue does not move. A new one
costs a new interpreter, so it is started only if that goes on for a while. What has not been used
for a minute is ended.
"""

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic

from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.template import Template
from duetime.handlers import registry, sources

PATIENCE = 0.2  # seconds that an attempt waits for each template that a core has
UNUSED_FOR = 60.0  # seconds
START_TIME = 0.2  # seconds, of a new template
IDLE_LOOKS = 4  # in a row, in which the machine has a core to spare
LOOK_EVERY = 0.05  # seconds between two looks whether the machine has a core to spare
MOST_COMPUTE = 0.5  # of the latest attempts: above this they share the cores
LATEST_WEIGHT = 0.1  # of the latest attempt in that share

Begin = Callable[[Template], object]


class Waiter:
    """An attempt that waits for a template. `begin` is called with the template before the thread
    of the attempt wakes, so that a kept process has its next request early."""

    def __init__(self, begin: Begin, now: float) -> None:
        self.begin = begin
        self.arrived_at = now
        # What the thread does next: use a template; start one (None); or be the one that looks
        # (False) whether another template may be used.
        self.orders: SimpleQueue[Template | bool | None] = SimpleQueue()


class Templates:
    """Any thread may take a template and give it back.

    Attempts get templates in the order of their arrival. While attempts wait, the thread of one of
    them looks from time to time whether another template may be used; the others sleep. When it
    gets a template, the last one in the queue looks."""

    def __init__(
        self,
        start: Callable[[], Template] | None = None,
        *,
        now: Callable[[], float] = monotonic,
        idle_core: "Callable[[], bool] | None" = None,
    ) -> None:
        self._start = start or (lambda: Template(isolated_modules()))
        self._now = now
        self._has_idle_core = idle_core or has_idle_core
        self._idle: deque[Template] = deque()  # the one used last is at the end
        self._waiting: deque[Waiter] = deque()
        self._looking: Waiter | None = None  # one of those
        self._taken = 0
        self._started_at = -START_TIME
        self._handed_on_at = 0.0  # when an attempt in the queue last got a template
        self._idle_looks = 0  # in a row
        self._computing = 0.0  # the share of the latest attempts that computed
        self._lock = threading.Lock()

    def take(self, begin: Begin = lambda _: None) -> Template:
        """Raises OSError if no process can be started."""
        with self._lock:
            waiter = None
            if self._waiting or not self._has_place():
                waiter = Waiter(begin, self._now())
                self._waiting.append(waiter)
                self._choose_looking()
            else:
                self._taken += 1
        template = self._next_usable() if waiter is None else self._wait(waiter)
        try:
            return template or self._start()
        except BaseException:
            self._free()
            raise

    def _wait(self, waiter: Waiter) -> Template | None:
        """Returns None if the attempt is to start a template."""
        looks = waiter is self._looking
        while True:
            try:
                order = waiter.orders.get(timeout=LOOK_EVERY if looks else None)
            except Empty:
                self.look()
                continue
            if order is not False:
                return order  # type: ignore[return-value]
            looks = True

    def look(self) -> None:
        """Give the first in the queue another template if it may use one."""
        with self._lock:
            if not self._waiting:
                return
            self._idle_looks = self._idle_looks + 1 if self._has_idle_core() else 0
            if self._idle:
                may = self._idle_looks > 0 or self._is_stalled()
            else:
                may = self._may_start_another()
            if not may:
                return
            self._taken += 1
            waiter = self._next_waiter()
        self._hand_on(waiter, self._next_usable())

    def give_back(self, template: Template, *, computed: bool | None = None) -> None:
        """One that is not usable any more is ended. `computed`: whether the attempt used a core
        for most of its time, if that is known."""
        usable = template.usable and template.sources is sources.kept()
        with self._lock:
            if computed is not None:
                self._computing += LATEST_WEIGHT * (computed - self._computing)
            hand_on = bool(self._waiting) and (self._may_go_on() if usable else self._has_place(1))
            waiter = self._next_waiter() if hand_on else None
            if waiter is None:
                self._taken -= 1
                if usable:
                    template.used_at = self._now()
                    self._idle.append(template)
            unused = self._unused()
        if waiter is not None:
            self._hand_on(waiter, template if usable else self._next_usable())
        if not usable:
            unused.append(template)
        for one in unused:
            one.close()

    def _hand_on(self, waiter: Waiter, template: Template | None) -> None:
        if template is not None:
            waiter.begin(template)
        waiter.orders.put(template)

    # with the lock

    def _has_place(self, leaving: int = 0) -> bool:
        """Whether another attempt may begin without waiting, once so many have ended."""
        taken = self._taken - leaving
        return taken < _cores() or (bool(self._idle) and self._computing < MOST_COMPUTE)

    def _may_go_on(self) -> bool:
        """Whether the next attempt may begin in the place of one that has ended. Where there are
        more than cores, those that compute become fewer again."""
        if self._taken <= _cores() or self._computing < MOST_COMPUTE:
            return True
        return self._has_idle_core()

    def _may_start_another(self) -> bool:
        """One after another: a template that starts keeps a core busy itself."""
        if self._taken < _cores():
            return True
        if self._now() - self._started_at >= START_TIME and self._idle_looks >= IDLE_LOOKS:
            return True
        return self._is_stalled()

    def _is_stalled(self) -> bool:
        """Whether the first in the queue has waited for long; of attempts that compute, whether
        none has ended for as long."""
        since = max(self._waiting[0].arrived_at, self._started_at)
        if self._computing >= MOST_COMPUTE:
            since = max(since, self._handed_on_at)
        return self._now() - since >= PATIENCE * self._taken / _cores()

    def _next_waiter(self) -> Waiter:
        waiter = self._waiting.popleft()
        self._handed_on_at = self._now()
        if waiter is self._looking:
            self._looking = None
            self._choose_looking()
        return waiter

    def _choose_looking(self) -> None:
        if self._looking is None and self._waiting:
            self._looking = self._waiting[-1]
            self._looking.orders.put(False)

    def _unused(self) -> list[Template]:
        unused = []
        while self._idle and self._now() - self._idle[0].used_at > UNUSED_FOR:
            unused.append(self._idle.popleft())
        return unused

    # without it

    def _next_usable(self) -> Template | None:
        """Returns None if another is to be started. Its place is taken already."""
        while True:
            with self._lock:
                if not self._idle:
                    self._started_at = self._now()
                    self._idle_looks = 0
                    return None
                template = self._idle.pop()
            if template.usable and template.sources is sources.kept():
                return template
            template.close()

    def _free(self) -> None:
        """Gives up a place whose template could not be started. The next attempt tries it."""
        with self._lock:
            self._taken -= 1
            if not self._waiting or not self._has_place():
                return
            self._taken += 1
            waiter = self._next_waiter()
        self._hand_on(waiter, self._next_usable())

    def close(self) -> None:
        """Ends those that no attempt uses."""
        with self._lock:
            idle, self._idle = self._idle, deque()
        for template in idle:
            template.close()


def isolated_modules() -> tuple[str, ...]:
    found = {h.__module__ for h in registry.handlers().values() if h.isolated}
    return tuple(sorted(found))


def _cores() -> int:
    return os.cpu_count() or 1


def has_idle_core() -> bool:
    """Whether fewer threads want to run on this machine than it has cores. Those that wait for a
    disk or a program do not count."""
    if not processes.LINUX:
        return False
    with suppress(OSError, ValueError, IndexError):
        runnable = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        return int(runnable) <= _cores()
    return False


TEMPLATES = Templates()  # of this process
