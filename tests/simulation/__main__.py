"""Play many seeds: `python -m tests.simulation --seeds 1000`, or one: `--seed 4711`."""

import argparse
import gc
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing import Pool

from lambdas.core.times import HOUR
from tests.simulation.seed import Report, simulate


def main() -> int:
    options = _options()
    if options.seed is not None:
        report = simulate(options.seed, options.tasks)
        _tell(report)
        return int(report.violation is not None)
    return _play(range(options.first, options.first + options.seeds), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many (default: 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default: 0)")
    parser.add_argument("--seed", type=int, help="only this one, and tell what happened in it")
    parser.add_argument("--tasks", type=int, default=50, help="tasks in each (default: 50)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="side by side")
    options = parser.parse_args()
    if options.seeds < 1 or options.tasks < 1:
        parser.error("--seeds and --tasks must be at least 1")
    return options


def _play(seeds: range, options: argparse.Namespace) -> int:
    """Ends with the first seed that fails: its trace is worth more than a count."""
    start = time.monotonic()
    tasks = dead = 0
    span = 0
    with Pool(options.processes, initializer=_quiet) as pool:
        reports = pool.imap_unordered(partial(simulate, tasks=options.tasks), seeds, chunksize=4)
        for done, report in enumerate(_shown(reports, len(seeds)), 1):
            if report.violation:
                _tell(report)
                print(f"\n{done} seeds played; the violation above is in seed {report.seed}")
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


def _tell(report: Report) -> None:
    for line in report.trace:
        print(line)
    verdict = report.violation or "no violation"
    print(f"\nseed {report.seed}: {verdict} ({report.tasks} tasks, {report.dead} dead at last)")
    if report.violation:
        print(f"again: make simulate SEED={report.seed}")


if __name__ == "__main__":
    sys.exit(main())
