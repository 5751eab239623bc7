"""The statistics of a real runner equal a count by list."""

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.running import Runner, free_port, running, until

HANDLERS = """
from duetime import task

@task("ok")
def ok(payload, ctx): ...

@task("fails")
def fails(payload, ctx):
    raise ValueError("no")

@task("second")
def second(payload, ctx):
    if ctx.attempt == 1:
        raise ValueError("not yet")
"""
LANES = ("high", "medium", "low")
COUNTS = [pytest.param(300), pytest.param(10_000, marks=pytest.mark.long)]


def body(number: int) -> dict[str, Any]:
    """Most tasks succeed at once; some fail first, some for good, some are cancelled."""
    handler = {7: "fails", 8: "second"}.get(number % 10, "ok")
    later = {"delay": 3_600} if number % 10 == 9 else {}
    return {
        "target": {"type": "python", "handler": handler},
        "priority": LANES[number % 3],
        "retry": {"max_attempts": 2, "base_delay": 0.01, "jitter": 0},
        **later,
    }


def stats(runner: Runner) -> dict[str, Any]:
    return dict(runner.api.get("/stats", params={"window": "1h"}).json())


def listed(runner: Runner) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        query = {"limit": "100", **({"cursor": cursor} if cursor else {})}
        page = runner.api.get("/tasks", params=query).json()
        found += page["items"]
        if (cursor := page["next_cursor"]) is None:
            return found


def counted_by_list(runner: Runner) -> dict[str, dict[str, Any]]:
    """Returns what `lanes` of the statistics must be, without the quantiles."""
    tasks = listed(runner)
    found = {}
    for lane in LANES:
        of_lane = [task for task in tasks if task["lane"] == lane]
        attempts = [each for task in of_lane for each in attempts_of(runner, task)]
        found[lane] = {
            "ends": Counter(task["status"] for task in of_lane),
            "attempts": Counter(each["outcome"] for each in attempts),
            "longest": max(each["drift_ms"] for each in attempts),
        }
    return found


def attempts_of(runner: Runner, task: dict[str, Any]) -> list[dict[str, Any]]:
    if task["attempt"] == 0:
        return []
    if task["attempt"] == 1:
        return [{"outcome": "succeeded", "drift_ms": task["drift_ms"]}]
    items: list[dict[str, Any]] = runner.api.get(f"/tasks/{task['id']}/attempts").json()["items"]
    return items


def counted(runner: Runner) -> dict[str, dict[str, Any]]:
    return {
        lane["lane"]: {
            "ends": +Counter(lane["ends"]),
            "attempts": +Counter(lane["attempts"]),
            "longest": lane["drift_ms"]["max"],
        }
        for lane in stats(runner)["lanes"]
    }


def of_prometheus(text: str) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {lane: Counter() for lane in LANES}
    for family in text_string_to_metric_families(text):
        if family.name == "duetime_tasks_finished":
            for sample in family.samples:
                found[sample.labels["lane"]][sample.labels["status"]] = int(sample.value)
    return {lane: +ends for lane, ends in found.items()}


@pytest.mark.parametrize("count", COUNTS)
def test_statistics_equal_a_count_by_list_also_after_a_restart(tmp_path: Path, count: int):
    (tmp_path / "mine.py").write_text(HANDLERS)
    options = (tmp_path / "data", free_port(), "--handlers", str(tmp_path / "mine.py"))
    with running(*options) as runner:
        ids = runner.submit_many([body(number) for number in range(count)])
        for task_id in ids[9::10]:
            assert runner.api.delete(f"/tasks/{task_id}").status_code == 200
        until(lambda: sum(stats(runner)["total"]["ends"].values()) == count)

        expected = counted_by_list(runner)
        assert counted(runner) == expected
        ends = {lane: each["ends"] for lane, each in expected.items()}
        assert of_prometheus(runner.api.get("../metrics").text) == ends

        last = runner.submit(target={"type": "python", "handler": "ok"}, priority="high")
        until(lambda: runner.task(last)["status"] == "SUCCEEDED")
        assert runner.end(signal.SIGINT)[0] == 0  # perhaps before the next flush

    with running(*options) as runner:
        expected["high"]["ends"]["SUCCEEDED"] += 1
        expected["high"]["attempts"]["succeeded"] += 1
        found = counted(runner)
        for lane in LANES:
            assert found[lane]["ends"] == expected[lane]["ends"]
            assert found[lane]["attempts"] == expected[lane]["attempts"]


def test_clean_stop_loses_no_count(tmp_path: Path):
    rarely = "import duetime.local.stats\nduetime.local.stats.FLUSH_INTERVAL = 3_600\n"
    (tmp_path / "mine.py").write_text(rarely + HANDLERS)
    options = (tmp_path / "data", free_port(), "--handlers", str(tmp_path / "mine.py"))
    with running(*options) as runner:
        done = runner.submit(target={"type": "python", "handler": "ok"})
        until(lambda: runner.task(done)["status"] == "SUCCEEDED")
        assert runner.end(signal.SIGINT)[0] == 0

    with running(*options) as runner:
        assert stats(runner)["total"]["ends"]["SUCCEEDED"] == 1


def test_metrics_have_a_port_of_their_own_that_serves_nothing_else(tmp_path: Path):
    port, metrics = free_port(), free_port()
    with running(tmp_path / "data", port, "--metrics-port", str(metrics)) as runner:
        url = f"http://127.0.0.1:{metrics}"
        with httpx.Client(base_url=url) as scraper:
            found = scraper.get("/metrics")
            assert "duetime_build_info" in found.text
            assert scraper.get("/v1/tasks").status_code == 404
            assert scraper.post("/v1/tasks", json={}).status_code == 404
            for foreign in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
                assert scraper.get("/metrics", headers=foreign).status_code == 403
                assert runner.api.get("../metrics", headers=foreign).status_code == 403
        assert runner.api.get("../metrics").status_code == 200
        assert runner.api.post("../metrics").status_code == 405
