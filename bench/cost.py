"""Counts what a million tasks, and a month without any, cost on AWS at list price.

The real roles run on moto, and every request is counted as AWS would bill it: write units by item
size and index entries, read units, messages, invocations, log bytes. `bench/prices.toml` has the
prices, their date, and the assumptions where nothing can be counted. Payloads are ordinary JSON,
which is stored compressed if it is long; `--random` counts texts that cannot be compressed. "kept"
is the storage and point-in-time recovery of the million for each month until they are removed; the
total includes the cost of the removal. Workflows are counted by the run, and shown for a million
steps, beside Step Functions.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.billing.flows import FLOWS, LONE_TASKS, SIZES, TASKS, count_flow, idle_tick
from bench.billing.meter import Counts, invocations, units_written
from bench.billing.moto_setup import deployed
from bench.billing.payloads import order_of, text_of
from bench.billing.prices import MILLION, Prices, read_prices
from bench.billing.workflow_flows import WORKFLOWS, count_workflow
from bench.harness import report

Row = Mapping[str, Any]
Key = tuple[str, int, bool]  # flow, size, alone
WorkflowKey = tuple[str, bool]  # flow, alone

STATS_FLOW = "immediate"
A_MINUTE = 60_000  # tasks, for the bill of a busy month
COLUMNS = {
    "DynamoDB": ("write", "read"),
    "SQS": ("sqs",),
    "Lambda": ("invocations", "gb_seconds"),
    "API": ("api",),
    "logs": ("logs",),
}


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m bench.cost", description=__doc__)
    arguments.add_argument(
        "--tasks", type=int, default=TASKS, help="tasks for each flow in full batches"
    )
    arguments.add_argument(
        "--flow", choices=[*FLOWS, *WORKFLOWS], action="append", help="count only this flow"
    )
    arguments.add_argument(
        "--random", action="store_true", help="payloads that cannot be compressed"
    )
    given = arguments.parse_args()
    prices = read_prices()
    dated = f"{prices.region}, {prices.as_of}"
    wanted = given.flow or [*FLOWS, *WORKFLOWS]
    if flows := [name for name in wanted if name in FLOWS]:
        report_tasks(
            prices, dated, flows, given.tasks, payload_of=text_of if given.random else order_of
        )
    if workflows := [name for name in wanted if name in WORKFLOWS]:
        report_workflows(prices, dated, workflows)
    report("cost-stats", "with stats: table, write units of a task", stats_rows())
    report("cost-elsewhere", f"elsewhere, per million ({dated})", elsewhere_rows(prices))
    report("cost-idle", f"an idle month ({dated})", idle_rows(prices))


def report_tasks(
    prices: Prices, dated: str, flows: Sequence[str], tasks: int, payload_of: Callable[[int], Any]
) -> None:
    counts = {
        (name, size, alone): count_flow(
            name,
            size,
            LONE_TASKS if alone else tasks,
            alone=alone,
            payload_of=payload_of,
        )
        for name in flows
        for alone in (False, True)
        for size in SIZES
    }
    report("cost-counted", "counted for one task", [counted_row(k, c) for k, c in counts.items()])
    report(
        "cost",
        f"dollars per million tasks ({dated})",
        [dollars_row(prices, k, c) for k, c in counts.items()],
    )
    report(
        "cost-busy",
        f"dollars for a month of {A_MINUTE:,} tasks a minute, {SIZES[0]} bytes each ({dated})",
        busy_rows(prices, counts),
    )


def report_workflows(prices: Prices, dated: str, names: Sequence[str]) -> None:
    counts = {
        (name, alone): count_workflow(WORKFLOWS[name], alone=alone)
        for name in names
        for alone in (False, True)
    }
    rows = [run_row(k, c) for k, c in counts.items()]
    report("cost-workflows-counted", "counted for one workflow run", rows)
    title = f"dollars per million steps, or items, of workflows ({dated})"
    rows = [steps_row(prices, k, c) for k, c in counts.items()]
    report("cost-workflows", title, rows)


def stats_rows() -> list[Row]:
    """Compares immediate tasks with and without minute rows."""
    rows: list[Row] = []
    for alone in (False, True):
        counts = {
            stats: units_written(
                count_flow(
                    STATS_FLOW,
                    SIZES[0],
                    LONE_TASKS if alone else TASKS,
                    alone=alone,
                    stats=stats,
                )
            )
            for stats in (False, True)
        }
        what = f"{STATS_FLOW}, {'single messages' if alone else 'full batches'}"
        more = counts[True] - counts[False]
        rows.append({"what": what, "without": counts[False], "with": counts[True], "more": more})
    return rows


def run_row(key: WorkflowKey, counts: Counts) -> Row:
    name, _ = key
    units = units_written(counts)
    return {
        "what": _workflow_named(key),
        "write units": units,
        "of a step": units / WORKFLOWS[name].steps,
        "read units": counts["read"],
        "SQS": counts["sqs"],
        "Lambda": invocations(counts),
        "log bytes": counts["logs"],
    }


def steps_row(prices: Prices, key: WorkflowKey, counts: Counts) -> Row:
    name, _ = key
    steps = WORKFLOWS[name].steps
    dollars = _by_column(prices, counts, MILLION / steps)
    other = prices.total(prices.step_functions(name, steps)) * MILLION / steps
    return {
        "what": _workflow_named(key),
        **dollars,
        "total": sum(dollars.values()),
        "Step Functions": other,
        "ratio": sum(dollars.values()) / other,
    }


def _workflow_named(key: WorkflowKey) -> str:
    name, alone = key
    return f"{name}, alone" if alone else name


def counted_row(key: Key, counts: Counts) -> Row:
    return {
        **_named(key),
        "write units": units_written(counts),
        "read units": counts["read"],
        "SQS": counts["sqs"],
        "Lambda": invocations(counts),
        "log bytes": counts["logs"],
    }


def dollars_row(prices: Prices, key: Key, counts: Counts) -> Row:
    dollars = _by_column(prices, counts, MILLION)
    return {
        **_named(key),
        **dollars,
        "total": sum(dollars.values()),
        "kept": prices.total(prices.kept(counts)) * MILLION,
        "X-Ray if on": prices.total(prices.traces(counts, alone=key[2])) * MILLION,
    }


def _by_column(prices: Prices, counts: Counts, times: float) -> dict[str, float]:
    usage = prices.usage(counts)
    return {
        column: prices.total({line: usage[line] for line in lines}) * times
        for column, lines in COLUMNS.items()
    }


def busy_rows(prices: Prices, counts: Mapping[Key, Counts]) -> list[Row]:
    """Returns the bills with full batches and with single tasks, kept for a month, the default."""
    tasks = A_MINUTE * prices.assumed["minutes_a_month"]

    def month(key: Key) -> float:
        return prices.total(prices.usage(counts[key])) * tasks

    names = dict.fromkeys(name for name, _, _ in counts)
    return [
        {
            "what": name,
            "in full batches": round(month((name, SIZES[0], False))),
            "alone": round(month((name, SIZES[0], True))),
            "kept": round(prices.total(prices.kept(counts[name, SIZES[0], False])) * tasks),
        }
        for name in names
    ]


def _named(key: Key) -> Row:
    name, size, alone = key
    return {"what": f"{name}, alone" if alone else name, "KB": size / 1_000}


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
    traces, alarms = usage.pop("traces"), usage.pop("alarms")
    used = [_idle_row(prices, name, units) for name, units in usage.items() if units]
    month = _sum("an idle month", used)
    essential = _idle_row(prices, "alarms", prices.assumed["essential_alarms"])
    every = _idle_row(prices, "alarms", alarms)
    return [
        *used,
        month,
        essential,
        _sum("an idle month of dev, with essential alarms", [month, essential]),
        every,
        _sum("an idle month of prod, with all alarms", [month, every]),
        _idle_row(prices, "traces", traces),
    ]


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
