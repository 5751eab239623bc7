"""A peer that runs: its server and its worker, in a folder of their own."""

import json
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench.peer_adapters.adapter import APPS, Peer
from bench.peer_adapters.processes import started

WARM_UP = 1_000  # no-ops before anything is measured: the worker is up when they have ended
SETTLE = 2.0  # seconds after that, for what its first work has started in the background
PAUSE = 0.02  # between two looks at the outcomes

Process = subprocess.Popen[bytes]


class Station:
    def __init__(self, peer: Peer, folder: Path, environment: dict[str, str]) -> None:
        self.peer = peer
        self._folder = folder
        self._record = folder / "record"
        self._environment = {
            **environment,
            **peer.environment,
            "PEER_RECORD": str(self._record),
            "PYTHONPATH": str(APPS),
        }

    @contextmanager
    def workers(self, slots: int | None = None) -> Iterator[Sequence[Process]]:
        """Runs as many workers as suit the peer, or one with so many slots."""
        command = self.peer.worker(self._environment, slots)
        with ExitStack() as stack:
            yield [
                stack.enter_context(started(command, self._folder, self._environment))
                for _ in range(1 if slots else self.peer.processes)
            ]

    def prepare(self) -> None:
        if self.peer.prepare:
            self._run(self.peer.prepare)

    def warm_up(self, timeout: float = 30) -> None:
        """Runs some no-ops, so that what is measured does not include the start."""
        give_up = time.monotonic() + timeout
        while True:
            try:
                self.submit("noop", WARM_UP)
                break
            except RuntimeError:  # Duetime's worker is also its server, and is not up yet
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.2)
        self.wait(WARM_UP, timeout)
        time.sleep(SETTLE)

    def submit(self, work: str, count: int, *numbers: float) -> dict[str, Any]:
        """Submits work with the peer's own client; returns when, in seconds since 1970."""
        with self.submitting(work, count, *numbers) as client:
            return self.submitted(client)

    @contextmanager
    def submitting(self, work: str, count: int, *numbers: float) -> Iterator[Process]:
        """Lets the client submit beside what this process does."""
        command = [*self.peer.client, work, str(count), *map(str, numbers)]
        with subprocess.Popen(
            command,
            cwd=self._folder,
            env={**os.environ, **self._environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as client:
            try:
                yield client
            finally:
                client.kill()

    def submitted(self, client: Process) -> dict[str, Any]:
        """Waits for a client; returns what it has printed."""
        output, errors = client.communicate()
        if client.returncode != 0:
            raise RuntimeError(f"{self.peer.name}: {errors.decode()[-2_000:]}")
        times: dict[str, Any] = json.loads(output.splitlines()[-1])
        return times

    def wait(self, count: int, timeout: float = 180) -> float:
        """Waits for so many outcomes; returns the time."""
        give_up = time.monotonic() + timeout
        while (stored := self.ended()) < count:
            if time.monotonic() > give_up:
                raise RuntimeError(f"{self.peer.name}: {stored} of {count} outcomes")
            time.sleep(PAUSE)
        return time.time()

    def ended(self) -> int:
        return self.peer.ended(self._environment)

    def recorded(self, event: str) -> dict[int, list[float]]:
        """Returns when this happened to each task, by its number."""
        times: dict[int, list[float]] = defaultdict(list)
        if self._record.exists():
            for line in self._record.read_text().splitlines():
                what, number, at = line.split()
                if what == event:
                    times[int(number)].append(float(at))
        return times

    def _run(self, command: Sequence[str]) -> None:
        environment = {**os.environ, **self._environment}
        done = subprocess.run(
            command, cwd=self._folder, env=environment, capture_output=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.peer.name}: {done.stderr.decode()[-2_000:]}")


@contextmanager
def station(peer: Peer) -> Iterator[Station]:
    with ExitStack() as stack:
        folder = tempfile.TemporaryDirectory(
            dir=os.environ.get("BENCH_DIR"), prefix=f"{peer.name}-", ignore_cleanup_errors=True
        )
        path = Path(stack.enter_context(folder))
        its = Station(peer, path, stack.enter_context(peer.server(path)))
        its.prepare()
        yield its
