"""The event pump: what EventBridge, the SQS pollers and the table's stream do when deployed.

It owns no rule of its own. It calls the scanner at every tick, hands each lane's messages to
that lane's crew, and passes status changes on to the relay.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from time import monotonic

from lambdas.core.events import StatusChange
from lambdas.core.lanes import Lane
from lambdas.core.ports import LaneQueue
from lambdas.executor.crew import Crew
from lambdas.relay.relay import Relay
from lambdas.scanner.scanner import Scanner

log = logging.getLogger(__name__)

Changes = SimpleQueue[Sequence[StatusChange] | None]  # what the change feed brings

RECEIVED_AT_ONCE = 100
SOON = 1.0  # seconds until the next tick when one left work behind


class Pump:
    def __init__(
        self,
        *,
        scanner: Scanner,
        crews: Mapping[Lane, Crew],
        lanes: LaneQueue,
        relay: Relay,
        changes: Changes,
        tick: float,
        poll: float,
        on_failure: Callable[[], None],
    ) -> None:
        self._scanner = scanner
        self._crews = crews
        self._lanes = lanes
        self._relay = relay
        self._tick = tick
        self._poll = poll
        self._on_failure = on_failure
        self._stopping = threading.Event()
        self._changes = changes
        self._feeding = [self._thread(self._tick_on, "tick")]
        self._feeding += [self._thread(self._poll_lane, lane, lane) for lane in crews]
        self._running = [self._thread(self._run_crew, f"crew-{n}", n) for n in crews]
        self._relaying = self._thread(self._relay_on, "relay")

    def start(self) -> None:
        for thread in (self._relaying, *self._running, *self._feeding):
            thread.start()

    def stop(self, grace: float) -> int:
        """Take in nothing more, let what runs finish; returns how many runs were left behind."""
        self._stopping.set()
        _join(self._feeding, grace)
        for crew in self._crews.values():
            crew.close()
        _join(self._running, grace)
        self._changes.put(None)
        _join([self._relaying], grace)
        return sum(crew.running for crew in self._crews.values())

    def _tick_on(self) -> None:
        wait = 0.0
        while not self._stopping.wait(wait):
            wait = self._tick
            try:
                report = self._scanner.tick()
            except Exception:
                log.exception("a tick failed; the next one finds what it left")
                continue
            log.debug("tick: %s", report)
            if report.unfinished:
                wait = min(SOON, self._tick)

    def _poll_lane(self, lane: Lane) -> None:
        crew = self._crews[lane]
        while not self._stopping.is_set():
            free = crew.wait_for_slots(self._poll)
            if not free:
                continue
            try:
                messages = self._lanes.receive(lane, min(free, RECEIVED_AT_ONCE), self._poll)
            except Exception:
                log.exception("lane %s cannot be read", lane)
                self._stopping.wait(SOON)
                continue
            if messages:
                crew.offer(messages)

    def _run_crew(self, lane: Lane) -> None:
        """A lane without its crew would stand still unnoticed: rather end, and start again."""
        try:
            self._crews[lane].run()
        except Exception:
            log.critical("the crew of lane %s failed", lane, exc_info=True)
            self._on_failure()

    def _relay_on(self) -> None:
        while (changes := self._changes.get()) is not None:
            self._relay.relay(changes)

    def _thread(self, target: Callable[..., None], name: str, *args: object) -> threading.Thread:
        return threading.Thread(target=target, args=args, name=name, daemon=True)


def _join(threads: Sequence[threading.Thread], grace: float) -> None:
    until = monotonic() + grace
    for thread in threads:
        thread.join(max(until - monotonic(), 0))
