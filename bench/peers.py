"""Compares Duetime with other schedulers: the same work, one after the other, in one command.

    .venv/bin/python bench/peers.py

It installs the peers at pinned versions below .cache/peers (from PyPI and npm) and their servers
from Debian (as root); what cannot be installed is left out, with a line that says so. Each peer has
the settings that suit it best here; its server has its defaults, except where the table says
otherwise, and a new data folder for each measurement.

Throughput: 10,000 no-op tasks, submitted by the peer's own client from another process; the time
runs from the first submission until every outcome is stored. A round measures each peer once; the
ratio is the median over the rounds of Duetime's rate divided by the peer's rate in the same round.
Slow peers get a share of the tasks only, which the table of settings says.

Drift: 1,000 tasks due over 8 s, submitted ahead: start minus due.

Kill: 100 tasks of one second on 8 slots; the worker and its processes are killed with -9 when a
third of the time has passed, and started again at once: what is lost, what runs again, and after
how long, within 90 s. All peers do this at the same time, since the tasks only sleep. What makes a
peer notice a dead worker is set to about 30 s where its default is longer (Celery's visibility
timeout, Dramatiq's heartbeat timeout).
"""

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

from harness import RESULTS, report

from bench.peer_adapters import installs
from bench.peer_adapters.adapter import Peer
from bench.peer_adapters.processes import kill
from bench.peer_adapters.registry import peers
from bench.peer_adapters.station import WARM_UP, Process, Station, station
from bench.peer_adapters.summary import markdown
from bench.percentile import percentile

PARTS = ("throughput", "drift", "kill")
AHEAD = 3.0  # seconds from the submission of delayed tasks to the first; more if that takes longer
SLOTS = 8  # of the worker that is killed

Row = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--tasks", type=int, default=10_000, help="of the throughput")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--delayed", type=int, default=1_000, help="tasks of the drift")
    arguments.add_argument("--over", type=float, default=8, help="seconds over which they are due")
    arguments.add_argument("--naps", type=int, default=100, help="tasks beside the kill")
    arguments.add_argument("--nap", type=float, default=1, help="seconds that each of them takes")
    arguments.add_argument("--patience", type=float, default=90, help="seconds after the kill")
    arguments.add_argument("--part", choices=PARTS, action="append")
    arguments.add_argument("--peer", action="append", help="measure only these, and Duetime")
    arguments.add_argument("--duetime", default="", help="more options for `duetime local`")
    arguments.add_argument("--no-install", action="store_true", help="use what is installed")
    given = arguments.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the servers, as Ctrl-C does
    if not given.no_install:
        installs.install()
    chosen = list(available(peers(given.duetime.split()), given.peer))
    distinct = [peer for peer in chosen if not peer.differs_in_storage]
    parts = given.part or PARTS
    throughput = drift = kill = None
    if "throughput" in parts:
        throughput = compare_throughput(chosen, given.tasks, given.rounds)
        report("peers-throughput", f"no-op tasks with outcomes, {given.rounds} rounds", throughput)
    if "drift" in parts:
        drift = [measure_drift(peer, given.delayed, given.over) for peer in distinct]
        report("peers-drift", f"start − due of {given.delayed:,} delayed tasks, in ms", drift)
    if "kill" in parts:
        kill = compare_kills(distinct, given.naps, given.nap, given.patience)
        title = f"kill -9 of the worker, {given.naps} tasks of {given.nap:g} s"
        report("peers-kill", title, kill)
    if throughput and drift and kill:
        table = RESULTS / "peers.md"
        table.write_text(markdown(chosen, throughput, drift, kill))
        print(f"the table of the README: {table}")


def available(every: Sequence[Peer], names: Sequence[str] | None) -> Iterator[Peer]:
    unknown = set(names or ()) - {peer.name for peer in every}
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; peers: {', '.join(p.name for p in every)}")
    for peer in every:
        if names and peer.name not in ("duetime", *names):
            continue
        if reason := peer.missing():
            print(f"{peer.what}: skipped, since {reason}")
        else:
            yield peer


def compare_throughput(chosen: Sequence[Peer], tasks: int, rounds: int) -> list[Row]:
    rates: dict[str, list[float]] = {peer.name: [] for peer in chosen}
    for number in range(rounds):
        for peer in chosen if number % 2 == 0 else reversed(chosen):
            rate = measure_throughput(peer, round(tasks * peer.share))
            print(f"round {number + 1}: {peer.what} {rate:,.0f} tasks/s", flush=True)
            rates[peer.name].append(rate)
    ratios = {
        peer.name: [
            ours / its for ours, its in zip(rates["duetime"], rates[peer.name], strict=True)
        ]
        for peer in chosen
    }
    settings = [
        {
            "what": peer.what,
            "tasks": round(tasks * peer.share),
            "worker": peer.works,
            "client": peer.submits,
            "stored in": peer.stored,
        }
        for peer in chosen
    ]
    report("peers-settings", "Settings", settings)
    return [
        {
            "what": f"{peer.what} {peer.version}".strip(),
            "tasks/s": median(rates[peer.name]),
            "Duetime ÷ it": median(ratios[peer.name]),
            "from": min(ratios[peer.name]),
            "to": max(ratios[peer.name]),
        }
        for peer in chosen
    ]


def measure_throughput(peer: Peer, tasks: int) -> float:
    """Returns tasks a second."""
    with running(peer) as (its, _), its.submitting("noop", tasks) as client:
        done = its.wait(WARM_UP + tasks)
        return tasks / (done - its.submitted(client)["began"])


def measure_drift(peer: Peer, tasks: int, over: float) -> Row:
    due, began = delayed(peer, tasks, AHEAD, over)
    drifts = [(began[number][0] - at) * 1_000 for number, at in enumerate(due)]
    return {
        "what": peer.what,
        "early": sum(1 for drift in drifts if drift < -1),
        "p50": percentile(drifts, 0.5),
        "p99": percentile(drifts, 0.99),
        "max": max(drifts),
        "run twice": sum(1 for times in began.values() if len(times) > 1),
    }


def delayed(
    peer: Peer, tasks: int, ahead: float, over: float
) -> tuple[list[float], dict[int, list[float]]]:
    """Returns when the tasks were due, and when each of them began."""
    with running(peer) as (its, _):
        times = its.submit("stamp", tasks, ahead, over)
        if times["submitted"] < times["due"][0]:
            its.wait(WARM_UP + tasks, ahead + over + 120)
            return times["due"], its.recorded("began")
    return delayed(peer, tasks, ahead * 3, over)


@contextmanager
def running(peer: Peer, slots: int | None = None) -> Iterator[tuple[Station, Sequence[Process]]]:
    with station(peer) as its, its.workers(slots) as workers:
        its.warm_up()
        yield its, workers


class Kill:
    """A peer whose worker is killed in the middle and started again."""

    def __init__(self, peer: Peer, naps: int, nap: float, stack: ExitStack) -> None:
        self._naps, self._nap = naps, nap
        self._stack = stack
        self.station, self._workers = stack.enter_context(running(peer, SLOTS))
        self.what = peer.what

    def begin_and_kill(self) -> None:
        """Kills the worker when tasks have run for some seconds, and starts it again."""
        self.station.submit("nap", self._naps, self._nap)
        while not (began := self.station.recorded("began")):
            time.sleep(0.05)
        first = min(times[0] for times in began.values())
        work = self._naps * self._nap / SLOTS
        time.sleep(max(0, first + work / 3 - time.time()))
        for worker in self._workers:
            kill(worker)
        self.at = time.time()
        self._stack.enter_context(self.station.workers(SLOTS))

    @property
    def finished(self) -> bool:
        return len(self.station.recorded("ended")) >= self._naps

    def row(self) -> Row:
        began, ended = self.station.recorded("began"), self.station.recorded("ended")
        after = sorted(at for times in began.values() for at in times if at > self.at)
        cut = [
            number
            for number, times in began.items()
            if times[0] < self.at and not any(at < self.at for at in ended[number])
        ]
        again = [at for number in cut for at in began[number] if at > self.at]
        return {
            "what": self.what,
            "next start after s": after[0] - self.at if after else "never",
            "cut off": len(cut),
            "last of them again after s": max(again) - self.at if again else "never",
            "lost": self._naps - sum(1 for times in ended.values() if times),
            "finished, but run again": sum(1 for times in ended.values() if len(times) > 1),
        }


def compare_kills(chosen: Sequence[Peer], naps: int, nap: float, patience: float) -> list[Row]:
    with ExitStack() as stack, ThreadPoolExecutor(len(chosen)) as together:
        kills = list(together.map(lambda peer: Kill(peer, naps, nap, stack), chosen))
        list(together.map(Kill.begin_and_kill, kills))
        give_up = max(each.at for each in kills) + patience
        while time.time() < give_up and not all(each.finished for each in kills):
            time.sleep(0.5)
        return [each.row() for each in kills]


if __name__ == "__main__":
    main()
