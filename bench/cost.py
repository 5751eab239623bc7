"""What a million tasks, and a month without any, cost on AWS at list price.

The real roles run on moto, and every request is counted as AWS would bill it: write units by item
size and index entries, read units, messages, invocations, log bytes. `bench/prices.toml` has the
prices, their date, and what is assumed where nothing can be counted. "kept" is the
storage of the million for each month after their end.
"""

import argparse
from collections.abc import Mapping
from typing import Any

from bench.billing.flows import FLOWS, SIZES, TASKS, counted, idle_tick
from bench.billing.meter import Counts, invocations, units_written
from bench.billing.prices import MILLION, Prices, read_prices
from bench.billing.stage import deployed
from bench.harness import report

Row = Mapping[str, Any]

IN_TURN = 10  # tasks that go each alone
COLUMNS = {
    "DynamoDB": ("write", "read"),
    "SQS": ("sqs",),
    "Lambda": ("invocations", "gb_seconds"),
    "API": ("api",),
    "logs": ("logs",),
    "X-Ray": ("traces",),
}


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m bench.cost", description=__doc__)
    arguments.add_argument("--tasks", type=int, default=TASKS, help="that go together")
    arguments.add_argument("--flow", choices=FLOWS, action="append", help="only this one")
    given = arguments.parse_args()
    prices = read_prices()
    dated = f"{prices.region}, {prices.as_of}"
    counts = {
        (name, size): counted(name, size, IN_TURN if name.endswith("alone") else given.tasks)
        for name in given.flow or FLOWS
        for size in SIZES
    }
    report("cost-counted", "counted for one task", [counted_row(k, c) for k, c in counts.items()])
    report(
        "cost",
        f"dollars per million tasks ({dated})",
        [dollars_row(prices, k, c) for k, c in counts.items()],
    )
    report("cost-elsewhere", f"elsewhere, per million ({dated})", elsewhere_rows(prices))
    report("cost-idle", f"an idle month ({dated})", idle_rows(prices))


def counted_row(key: tuple[str, int], counts: Counts) -> Row:
    name, size = key
    return {
        "what": name,
        "KB": size / 1_000,
        "write units": units_written(counts),
        "read units": counts["read"],
        "SQS": counts["sqs"],
        "Lambda": invocations(counts),
        "log bytes": counts["logs"],
    }


def dollars_row(prices: Prices, key: tuple[str, int], counts: Counts) -> Row:
    name, size = key
    usage = prices.usage(counts, alone=name.endswith("alone"))
    dollars = {
        column: prices.total({line: usage[line] for line in lines}) * MILLION
        for column, lines in COLUMNS.items()
    }
    return {
        "what": name,
        "KB": size / 1_000,
        **dollars,
        "total": sum(dollars.values()),
        "kept": prices.lines["stored"].list_price(counts["stored"]) * MILLION,
    }


def elsewhere_rows(prices: Prices) -> list[Row]:
    columns = {
        "one attempt": prices.elsewhere_used(),
        "one retry": prices.elsewhere_used(attempts=2),
        "alone": prices.elsewhere_used(batch=1),
    }
    services = columns["one attempt"]
    return [
        {
            "what": service,
            **{name: prices.total(used[service]) * MILLION for name, used in columns.items()},
        }
        for service in services
    ]


def idle_rows(prices: Prices) -> list[Row]:
    with deployed() as deployment:
        tick = idle_tick(deployment)
        usage = prices.idle_month(
            tick, lanes=len(deployment.queues), metrics=len(deployment.metrics)
        )
    alarms = usage.pop("alarms")
    rows = [_idle_row(prices, name, units) for name, units in usage.items() if units]
    rows.append(_sum("an idle month", rows))
    rows.append(_idle_row(prices, "alarms", alarms))
    return [*rows, _sum("an idle month, with alarms", rows[-2:])]


def _sum(what: str, rows: list[Row]) -> Row:
    total = {name: sum(row[name] for row in rows) for name in ("list price $", "after free $")}
    return {"what": what, "units": "", **total}


def _idle_row(prices: Prices, name: str, units: float) -> Row:
    line = prices.lines[name]
    return {
        "what": line.what,
        "units": round(units),
        "list price $": line.list_price(units),
        "after free $": line.after_free(units),
    }


if __name__ == "__main__":
    main()
