"""The scripts behind the API's figures: they run at a tiny size, and `make bench` runs them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MISSED_A_LIMIT = 1  # the exit code; a test does not depend on a quiet machine

needs_chromium = pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
needs_hey = pytest.mark.skipif(shutil.which("hey") is None, reason="hey is not installed")


def run(folder: Path, result: str, script: str, *options: str) -> Sequence[dict[str, Any]]:
    """Returns the rows of the table that a script reports as `result`."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / script), *options],
        env={**os.environ, "BENCH_DIR": str(folder), "BENCH_RESULTS": str(folder / "results")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, MISSED_A_LIMIT), done.stderr
    assert not done.stderr
    rows: list[dict[str, Any]] = json.loads((folder / f"results/{result}.json").read_text())["rows"]
    return rows


def test_listing_reads_a_page_with_every_filter(tmp_path: Path) -> None:
    rows = run(tmp_path, "listing", "listing.py", "--tasks=300", "--readers=2", "--pages=2")

    assert len(rows) > 15
    assert [row["what"] for row in rows if not row["tasks"]] == []


@pytest.mark.long
def test_bulk_changes_tasks_by_tag(tmp_path: Path) -> None:
    rows = run(tmp_path, "bulk", "bulk.py", "--tasks=200", "--singly=2")

    assert [row["what"] for row in rows if not row["tasks_per_s"]] == []


@pytest.mark.long
def test_counting_compares_two_runners(tmp_path: Path) -> None:
    [row] = run(tmp_path, "counting", "counting.py", "--tasks=200", "--rounds=1")

    assert row["ratio"] > 0
    assert row["CPU ratio"] > 0


@pytest.mark.long
def test_limits_start_as_many_as_the_rate_allows(tmp_path: Path) -> None:
    [row] = run(
        tmp_path, "limits-rate", "limits.py", "--part=rate", "--backend=embedded", "--seconds=3"
    )

    assert (row["starts"], row["most in a period"]) == (150, 50)


@pytest.mark.long
def test_workflows_run_to_their_end(tmp_path: Path) -> None:
    options = ("--repeats=1", "--parallel=3", "--items=100", "--rounds=1", "--runs=5", "--crowds=2")
    alone = run(tmp_path, "workflows-alone", "workflows.py", *options)
    map_, crowd = (
        json.loads((tmp_path / f"results/workflows-{part}.json").read_text())["rows"]
        for part in ("map", "crowd")
    )

    assert [row["what"] for row in alone] == ["ten steps in a row", "diamond of 3"]
    assert map_[0]["items/s"] > 0
    assert [row["what"] for row in crowd] == ["at the start", "round 1", "round 2"]
    assert all(row["memory MB"] > 0 for row in crowd)


@pytest.mark.long
def test_testkit_runs_what_is_due(tmp_path: Path) -> None:
    rows = run(tmp_path, "testkit", "testkit.py", "--rounds=1")

    assert [row["runs"] for row in rows] == [0, 0, 1, 1, 24, 60, 1_440, 1_000]


@needs_hey
@pytest.mark.long
def test_api_reads_a_page_with_every_filter(tmp_path: Path) -> None:
    rows = run(tmp_path, "lists", "api.py", "--lists", "--tasks=300", "--pages=1")

    assert len(rows) > 15
    assert [row["what"] for row in rows if not row["tasks"]] == []


@needs_hey
@pytest.mark.long
def test_api_accepts_submissions(tmp_path: Path) -> None:
    rows = run(tmp_path, "api", "api.py", "--requests=1600", "--rounds=1")

    assert rows[0]["single/s"] > 0


@needs_chromium
@pytest.mark.long
@pytest.mark.console
def test_console_is_measured_in_chromium(tmp_path: Path) -> None:
    options = ("--repeats=1", "--tasks=300", "--minutes=0.05", "--rounds=1", "--submitted=200")
    first = run(tmp_path, "console-paint", "console.py", *options)
    page, changes, turns = (
        json.loads((tmp_path / f"results/console-{part}.json").read_text())["rows"]
        for part in ("page", "changes", "throughput")
    )
    asked = {row["what"]: row["median"] for row in first}
    shown = {row["what"]: row["value"] for row in changes}

    assert 1 <= asked["requests of the page"] <= 6
    assert asked["requests of the frame"] == 2
    assert [row["what"] for row in page if row["best"] <= 0] == []
    assert shown["rows"] == 200
    assert shown["changes a second"] > 0
    assert turns[0]["share"] > 0


def test_make_bench_runs_every_script_of_the_readme() -> None:
    figures = (ROOT / "README.md").read_text().partition("## Figures")[2].partition("\n## ")[0]
    scripts = re.findall(r"`[^`]*\bbench[/.](\w+)[^`]*` \|$", figures, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    [recipe] = re.findall(r"^bench:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)

    assert "api" in scripts
    assert [name for name in scripts if not re.search(rf"\b{name}\b", recipe)] == []


@pytest.mark.long
def test_fairness_shares_the_lanes_and_draws_them(tmp_path: Path) -> None:
    options = ("--tasks=200", "--nap=0.002", "--slots=2", "--age-after=1")
    options += ("--noisy=200", "--over=1", "--tenant-nap=0.002")
    shares = run(tmp_path, "fairness-shares", "fairness.py", *options)
    tenants = json.loads((tmp_path / "results/fairness-tenants.json").read_text())["rows"]

    assert shares[0]["promoted"] == 0
    assert sum(shares[0][f"{lane} %"] for lane in ("high", "medium", "low")) == pytest.approx(100)
    assert [row["what"] for row in tenants] == ["alone", "beside 200"]
    assert (tmp_path / "results/fairness.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_live_compares_a_runner_with_and_without_listeners(tmp_path: Path) -> None:
    rows = run(tmp_path, "live", "live.py", "--tasks=200", "--rounds=1", "--seconds=1")

    assert [row["what"] for row in rows] == ["no listener", "one console", "50 listeners"]
    assert rows[0]["frames"] == 0
    assert all(row["frames"] > 0 for row in rows[1:])


@pytest.mark.long
def test_burst_starts_every_task_and_none_early(tmp_path: Path) -> None:
    [starts] = run(tmp_path, "burst", "burst.py", "--tasks=300", "--ahead=4")
    requests = json.loads((tmp_path / "results/burst-api.json").read_text())["rows"]

    assert starts["early"] == 0
    assert starts["max"] > 0
    assert all(row["requests"] > 0 for row in requests)


@pytest.mark.long
def test_cores_compares_with_bare_processes(tmp_path: Path) -> None:
    rows = run(tmp_path, "cores", "cores.py", "--tasks=40", "--rounds=1", "--cores=2")

    assert rows[0]["of cores"] == 0.5  # one of two
    assert rows[1]["of bare"] == 1
    assert {"threads", "--workers 2", "isolated"} <= {row["what"] for row in rows}
