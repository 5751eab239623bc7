"""Compares the throughput of a runner with one that does not count, in turns on the same machine.

Reports the CPU time for a task, too, which depends less on what else the machine does.
"""

import argparse
from statistics import median

from harness import HERE, Running, duetime_local, report
from throughput import measure

WITHOUT = ("--handlers", str(HERE / "uncounted.py"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=10_000)
    arguments.add_argument("--clients", type=int, default=2, help="connections that submit")
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    rows = []
    for number in range(given.rounds):
        of_round = {}
        for name, options in (("with", ()), ("without", WITHOUT)):
            with duetime_local(None, *options) as running:
                of_round[name] = _measured(running, given.tasks, given.clients)
        counted, uncounted = of_round["with"], of_round["without"]
        rows.append(
            {
                "what": f"round {number + 1}",
                "with, tasks/s": counted["tasks/s"],
                "without, tasks/s": uncounted["tasks/s"],
                "ratio": counted["tasks/s"] / uncounted["tasks/s"],
                "CPU ratio": counted["CPU"] / uncounted["CPU"],
            }
        )
    ratio, cpu = (median(row[name] for row in rows) for name in ("ratio", "CPU ratio"))
    title = f"counting: {ratio:.3f} × the throughput, {cpu:.3f} × the CPU time, medians"
    report("counting", title, rows)


def _measured(running: Running, tasks: int, clients: int) -> dict[str, float]:
    before = running.cpu_s()
    measured = measure(running, tasks, clients)
    return {**measured, "CPU": running.cpu_s() - before}


if __name__ == "__main__":
    main()
