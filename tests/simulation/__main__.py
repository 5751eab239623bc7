"""Simulates many seeds (`python -m tests.simulation --seeds 1000`), or one (`--seed 4711`)."""

import argparse
import gc
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool

from duetime.core.times import HOUR
from tests.simulation import run_workload
from tests.simulation.trial import Report, simulate


def main() -> int:
    options = _options()
    if options.runs:
        run_workload.RUNS = [max(run_workload.RUNS)]  # before the processes are forked
    if options.seed is not None:
        report = simulate(options.seed, options.tasks)
        _tell(report, options)
        return int(report.violation is not None)
    return _play(range(options.first, options.first + options.seeds), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="number of seeds (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="first seed (default: 0)")
    parser.add_argument(
        "--seed", type=int, help="simulate this seed only, and print its trace if it fails"
    )
    parser.add_argument("--tasks", type=int, default=50, help="tasks for each seed (default: 50)")
    parser.add_argument(
        "--processes",
        type=int,
        default=os.cpu_count(),
        help="number of processes (default: one for each core)",
    )
    parser.add_argument("--runs", action="store_true", help="workflow runs in every world")
    options = parser.parse_args()
    if options.seeds < 1 or options.tasks < 1:
        parser.error("--seeds and --tasks must be at least 1")
    return options


def _play(seeds: range, options: argparse.Namespace) -> int:
    """Stops at the first seed that fails and prints its trace."""
    start = time.monotonic()
    tasks = dead = 0
    span = 0
    with Pool(options.processes, initializer=_quiet) as pool:
        reports = pool.imap_unordered(partial(simulate, tasks=options.tasks), seeds, chunksize=4)
        for done, report in enumerate(_shown(reports, len(seeds)), 1):
            if report.violation:
                _tell(report, options)
                print(f"\n{done} seeds simulated; seed {report.seed} failed as above")
                return 1
            tasks, dead, span = tasks + report.tasks, dead + report.dead, span + report.took
    took = time.monotonic() - start
    print(
        f"{len(seeds):,} seeds ({seeds[0]} to {seeds[-1]}), {tasks:,} tasks,"
        f" {span / HOUR:,.0f} simulated hours, no violation; {took:.0f} s"
    )
    return 0


def _quiet() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _shown(reports: Iterator[Report], total: int) -> Iterator[Report]:
    shows = sys.stderr.isatty()
    for number, report in enumerate(reports, 1):
        if shows and (number % 10 == 0 or number == total):
            end = "\n" if number == total else ""
            print(f"\r{number:,} of {total:,} seeds", end=end, file=sys.stderr, flush=True)
        yield report


def _tell(report: Report, options: argparse.Namespace) -> None:
    for line in report.trace:
        print(line)
    verdict = report.violation or "no violation"
    print(f"\nseed {report.seed}: {verdict} ({report.tasks} tasks, {report.dead} dead at the end)")
    if report.violation:
        always = f"python -m tests.simulation --runs --seed {report.seed}"
        print(f"to repeat it: {always if options.runs else f'make simulate SEED={report.seed}'}")


if __name__ == "__main__":
    sys.exit(main())
