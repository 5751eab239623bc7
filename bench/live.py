"""Measures what live updates cost the local runner, and how soon they arrive.

- Throughput (bench/throughput.py) without a listener, with one open console, and with 50 listeners,
  in turns, each with a new runner. A console subscribes to all tasks and to the stats, and reads a
  page of 100 after each `reset`, as it does when it cannot keep up with the changes.
- 200 tasks a second for some seconds, with 50 listeners: frames a second, and the time from a
  change to its arrival.

The listeners are in a process of their own, on the same cores. Exits with 1 if the runner completes
fewer than 95 % of the tasks a second with one console open (the median of the rounds).
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from statistics import median
from typing import Any

import httpx
import throughput
from harness import Running, duetime_local, post, report
from websockets.asyncio.client import connect

from bench.percentile import percentile

LIMIT = 0.95  # of the throughput without a listener
LISTENERS = {"no listener": 0, "one console": 1, "50 listeners": 50}
HELLO = {"op": "hello", "version": 1}
TASKS = {"op": "subscribe", "id": "tasks", "topic": "tasks"}
STATS = {"op": "subscribe", "id": "stats", "topic": "stats"}
NOOP = {"target": {"type": "python", "handler": "bench.noop"}}
BATCHES = 10  # a second, of the steady load


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tasks", type=int, default=10_000)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rate", type=int, default=200, help="tasks a second, steadily")
    arguments.add_argument("--seconds", type=int, default=20, help="of the steady load")
    arguments.add_argument("--listen", nargs=2, metavar=("URL", "COUNT"), help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.listen:
        url, count = given.listen
        print(json.dumps(asyncio.run(listen(url, int(count)))))
        return 0
    kept = beside_listeners(given.tasks, given.rounds)
    steadily(given.rate, given.seconds)
    return int(not kept)


def beside_listeners(tasks: int, rounds: int) -> bool:
    """Returns whether one console leaves the runner its throughput."""
    rates: dict[str, list[float]] = {what: [] for what in LISTENERS}
    used: dict[str, list[float]] = {what: [] for what in LISTENERS}
    heard: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for what, count in LISTENERS.items():
            with duetime_local() as running, listening(running, count) as heard[what]:
                before = running.cpu_s()
                rates[what].append(throughput.measure(running, tasks, 2)["tasks/s"])
                used[what].append((running.cpu_s() - before) * 1e6 / tasks)
    alone = rates["no listener"]
    rows = [
        {
            "what": what,
            "tasks/s": median(rates[what]),
            "ratio": median(rate / other for rate, other in zip(rates[what], alone, strict=True)),
            "CPU µs a task": median(used[what]),
            "frames": heard[what].get("frames", 0),
            "resets": heard[what].get("resets", 0),
        }
        for what in LISTENERS
    ]
    ratio = float(rows[1]["ratio"])
    report("live", f"{tasks:,} no-op tasks; with one console {ratio:.1%} of without", rows)
    return ratio >= LIMIT


def steadily(rate: int, seconds: int) -> None:
    body = json.dumps({"tasks": [NOOP] * (rate // BATCHES)}).encode()
    with duetime_local() as running, closing(running.connect()) as connection:
        with listening(running, LISTENERS["50 listeners"]) as heard:
            before = running.cpu_s()
            start = time.monotonic()
            for number in range(seconds * BATCHES):
                time.sleep(max(start + number / BATCHES - time.monotonic(), 0))
                post(connection, "/v1/tasks/batch", body)
            used = (running.cpu_s() - before) / seconds
        row = {
            "what": "50 listeners",
            "frames/s": heard["frames"] / seconds,
            "items/s": heard["items"] / seconds,
            "p50 ms": heard["p50"],
            "p99 ms": heard["p99"],
            "resets": heard["resets"],
            "CPU": used,
        }
    report("live-steady", f"{rate} tasks a second", [row])


@contextmanager
def listening(running: Running, count: int) -> Iterator[dict[str, Any]]:
    """Yields a dictionary that has what the listeners have heard, after the block."""
    heard: dict[str, Any] = {}
    if not count:
        yield heard
        return
    command = [sys.executable, __file__, "--listen", f"http://127.0.0.1:{running.port}", str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # every listener has subscribed
        yield heard
        heard |= json.loads(process.communicate()[0])


async def listen(url: str, count: int) -> dict[str, Any]:
    """Listens until standard input is closed."""
    heard: Counter[str] = Counter()
    delays: list[float] = []
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        ready = [asyncio.Event() for _ in range(count)]
        listeners = [asyncio.create_task(one(client, each, heard, delays)) for each in ready]
        everyone = asyncio.gather(*(each.wait() for each in ready))
        await asyncio.wait((everyone, *listeners), return_when=asyncio.FIRST_COMPLETED)
        if not everyone.done():
            raise RuntimeError("a listener has ended")
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for listener in listeners:
            listener.cancel()
        await asyncio.gather(*listeners, return_exceptions=True)
    spans = {"p50": percentile(delays, 0.5), "p99": percentile(delays, 0.99)} if delays else {}
    return {**dict.fromkeys(("frames", "items", "resets"), 0), **heard, **spans}


async def one(
    client: httpx.AsyncClient, ready: asyncio.Event, heard: Counter[str], delays: list[float]
) -> None:
    ticket = (await client.post("/v1/live/tickets")).raise_for_status().json()
    async with connect(ticket["url"], proxy=None) as socket:
        for message in (HELLO, TASKS, STATS):
            await socket.send(json.dumps(message))
        async for text in socket:
            heard["frames"] += 1
            frame = json.loads(text)
            if frame["type"] == "subscribed" and frame["id"] == "stats":
                ready.set()
            elif frame["type"] == "changes":
                heard["items"] += len(frame["items"])
                delays.append(age_ms(frame["items"][0]))
            elif frame["type"] == "reset":
                heard["resets"] += 1
                await client.get("/v1/tasks", params={"fields": "summary", "limit": "100"})


def age_ms(item: dict[str, Any]) -> float:
    """Returns the time since the first change of a frame, which has waited for the longest."""
    return (time.time() - datetime.fromisoformat(item["updated_at"]).timestamp()) * 1_000


if __name__ == "__main__":
    sys.exit(main())
