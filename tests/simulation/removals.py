"""The end of a trial: finished tasks are archived and removed, while removers die, and while dead
tasks are revived and discarded at the same time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

from duetime.core.errors import Unavailable
from duetime.core.listings import DeadListing, EndedListing
from duetime.core.ports import Ports
from duetime.core.task import WORKFLOW, Task
from duetime.core.times import HOUR, SECOND, Millis
from duetime.engine import removal
from tests.simulation.engine import Process
from tests.simulation.faults import Faults
from tests.simulation.monitor import Monitor, Violation
from tests.simulation.network import Network

if TYPE_CHECKING:
    from tests.simulation.world import World

REMOVED_WITHIN: Millis = 2 * HOUR  # until every final task has left: hundreds, by pages of seven
PAGE = 7  # tasks that a remover reads at once


class SimulatedArchive:
    """Keeps of each record what the monitor checks. A process can die before and after a write."""

    def __init__(self, network: Network, monitor: Monitor) -> None:
        self._network = network
        self._monitor = monitor

    def write(self, lines: Sequence[str]) -> None:
        self._network.call(lambda: self._keep(lines))

    def _keep(self, lines: Sequence[str]) -> None:
        for record in map(json.loads, lines):
            numbers = [attempt["number"] for attempt in record["attempts"]]
            # A slow remover of a dead task may write after the task was revived and archived anew.
            known = self._monitor.archived.get(record["id"], [])
            self._monitor.archived[record["id"]] = max(known, numbers, key=len)


class Removals:
    """Removers of final tasks, and removers of dead ones beside users who revive them."""

    def __init__(self, world: World, revive: Callable[[str], object]) -> None:
        self._world = world
        self._engine = world.engine
        self._monitor = world.monitor
        self._revive = revive
        self._faults = Faults(
            lasts=0, killed=0.05, slow=0.3, unanswered=0.1, answer_lost=0.1, late=0.1, repeated=0.1
        )
        self._leaving = {
            t.id for t in self._monitor.tasks.values() if t.status.final and not _has_run(t)
        }

    def run(self) -> None:
        with _nothing_kept_longer():
            for act in (_remove_ended, _remove_ended, _discard_dead):
                self._remover(act)
            for task in list(self._monitor.tasks.values()):
                if task.status.finished and not task.status.final and not _has_run(task):
                    at = self._engine.between(0, 5)
                    self._engine.after(at, lambda task_id=task.id: self._revive(task_id))
            until = self._engine.now + REMOVED_WITHIN
            done = self._engine.run(until, lambda: bool(self._monitor.failures) or self._over)
        for violation in self._monitor.failures:
            raise violation
        if not done:
            raise Violation("a final task was not removed", min(self._leaving - self._monitor.left))

    @property
    def _over(self) -> bool:
        return self._leaving <= self._monitor.left

    def _remover(self, act: Callable[[Process, Ports], None]) -> None:
        """Starts a process that removes until it is killed; another one then goes on."""

        def main(process: Process) -> None:
            process.on_end = lambda killed: self._remover(act)
            ports, _ = self._world.ports(process, self._faults)
            while True:
                try:
                    act(process, ports)
                except Unavailable as error:
                    process.note("removal failed", str(error))
                process.sleep_until(self._engine.now + SECOND)

        self._world.process("remover", main)


def _has_run(task: Task) -> bool:
    """Whether it belongs to a workflow run. Its retention is that of the run: days."""
    return task.spec.step is not None or task.spec.target.get("type") == WORKFLOW


def _remove_ended(process: Process, ports: Ports) -> None:
    listing = EndedListing(as_of=ports.clock.now() + HOUR, kept_for=0, limit=PAGE)
    while True:
        page = ports.store.ended(listing)
        removal.remove_tasks(ports, page.tasks)
        if page.cursor is None:
            return
        listing = replace(listing, cursor=page.cursor)


def _discard_dead(process: Process, ports: Ports) -> None:
    dead = ports.store.dead(DeadListing(limit=PAGE)).tasks
    process.sleep_until(process.engine.now + process.engine.between(0, 3))
    removal.remove_tasks(ports, [task for task in dead if task.wake is None])


@contextmanager
def _nothing_kept_longer() -> Iterator[None]:
    """Lets runs of schedules and tasks with keys leave with the others."""
    with ExitStack() as patches:
        for name in ("core.retention.KEY_LIFE", "core.retention.LEDGER_RETENTION"):
            patches.enter_context(patch(f"duetime.{name}", 0))
        patches.enter_context(patch("duetime.sqlite.ended_tasks.LEDGER_RETENTION", 0))
        yield
