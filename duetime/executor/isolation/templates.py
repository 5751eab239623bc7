"""The templates of isolated handlers that an executor keeps: one for each attempt at a time.

A template is a process that forks for each attempt (`__main__.py`). It costs a new interpreter, so
an attempt waits a moment for one that another attempt is done with, unless the machine has a core
to spare. What has not been used for a minute is ended.
"""

import os
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from time import monotonic

from duetime.executor.isolation import process_tree as processes
from duetime.executor.isolation.template import Template
from duetime.handlers import registry, sources

PATIENCE = 0.2  # seconds that an attempt waits for each template that a core has
UNUSED_FOR = 60.0  # seconds
START_TIME = 0.2  # seconds, of a new template
IDLE_LOOKS = 4  # in a row, in which the machine has a core to spare
LOOK_EVERY = 0.05  # seconds between two looks whether the machine has a core to spare


class Templates:
    """Any thread may take a template and give it back."""

    def __init__(self) -> None:
        self._idle: deque[Template] = deque()  # the one used last is at the end
        self._taken = 0
        self._started_at = -START_TIME
        self._freed = threading.Condition()

    def take(self) -> Template:
        """Raises OSError if no process can be started."""
        with self._freed:
            template = self._wait_for_one()
            self._taken += 1
        try:
            return template or Template(isolated_modules())
        except BaseException:
            self._gone()
            raise

    def _wait_for_one(self) -> Template | None:
        """Returns None if another is to be started."""
        arrived_at, idle_looks = monotonic(), 0
        while True:
            while self._idle:
                template = self._idle.pop()
                if template.usable and template.sources is sources.kept():
                    return template
                template.close()
            idle_looks = idle_looks + 1 if has_idle_core() else 0
            if self._may_start_another(arrived_at, idle_looks):
                self._started_at = monotonic()
                return None
            self._freed.wait(LOOK_EVERY)

    def _may_start_another(self, arrived_at: float, idle_looks: int) -> bool:
        """One after another: a template that starts keeps a core busy itself."""
        if self._taken < _cores():
            return True
        now = monotonic()
        if now - self._started_at >= START_TIME and idle_looks >= IDLE_LOOKS:
            return True
        return now - max(arrived_at, self._started_at) >= PATIENCE * self._taken / _cores()

    def give_back(self, template: Template) -> None:
        """One that is not usable any more is ended."""
        unused = []
        with self._freed:
            self._taken -= 1
            if template.usable and template.sources is sources.kept():
                template.used_at = monotonic()
                self._idle.append(template)
            else:
                unused.append(template)
            while self._idle and monotonic() - self._idle[0].used_at > UNUSED_FOR:
                unused.append(self._idle.popleft())
            self._freed.notify()
        for one in unused:
            one.close()

    def _gone(self) -> None:
        with self._freed:
            self._taken -= 1
            self._freed.notify()

    def close(self) -> None:
        """Ends those that no attempt uses."""
        with self._freed:
            idle, self._idle = self._idle, deque()
        for template in idle:
            template.close()


TEMPLATES = Templates()  # of this process


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
