"""`duetime workflows` and `duetime runs`, against a server with the answers of the contract."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from duetime.api.http import Request, Response
from duetime.cli import run_views
from duetime.cli.exit_codes import ExitCode

NOW = datetime.fromisoformat("2027-01-04T09:01:00+00:00")
HTTP = {"type": "http", "url": "https://example.com/rows"}
ETL = {
    "name": "etl",
    "namespace": "default",
    "version": 3,
    "digest": "d",
    "steps": [
        {"name": "extract", "target": {"type": "python", "handler": "shop.extract"}},
        {"name": "a", "target": HTTP, "needs": ["extract"], "map": {"items": 3}},
        {"name": "pause", "wait": {"seconds": 60}, "needs": ["extract"]},
        {"name": "load", "workflow": "other", "needs": ["a"]},
        {"name": "clean", "target": HTTP, "finally": True},
    ],
    "created_at": "2027-01-04T08:00:00.000Z",
    "updated_at": "2027-01-04T09:00:00.000Z",
}


def at(seconds: float) -> str:
    """Returns the time so many seconds before NOW."""
    return (NOW - timedelta(seconds=seconds)).isoformat()


def a_step(name: str, status: str, *needs: str, **changes: Any) -> dict[str, Any]:
    step = {"name": name, "status": status, "needs": [*needs], "reason": None, "attempt": 1}
    return {**step, "started_at": None, "finished_at": None, **changes}


def a_run(status: str, *steps: Any, **changes: Any) -> Any:
    run = {"id": "r1", "status": status, "workflow": "etl", "version": 3, "attempt": 1}
    times = {"created_at": at(60), "finished_at": None}
    return {**run, **times, "error": None, "counts": {}, "steps": [*steps], **changes}


def shown(run: Any, **options: Any) -> list[str]:
    return [line.plain for line in run_views.whole(run, NOW, **options)]


class Answers:
    """An API that gives each request line its answers in turn, and records the bodies."""

    def __init__(self, **answers: Any) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.answers: dict[str, list[Response]] = {}

    def on(self, line: str, *bodies: Any, status: int = 200) -> None:
        self.answers[line] = [Response(status=status, body=body) for body in bodies]

    def call(self, request: Request) -> Response:
        query = "&".join(f"{k}={v}" for k, v in request.query.items())
        self.asked.append((query, json.loads(request.body) if request.body else None))
        found = self.answers[f"{request.method} {request.path}"]
        return found.pop(0) if len(found) > 1 else found[0]


@pytest.fixture
def api(front: Any) -> Answers:
    front.api = Answers()
    return front.api


@pytest.fixture
def shell(api: Answers, front: Any, make_shell: Any) -> Any:
    return make_shell(front.url)


def test_workflow_is_put_from_a_file_or_standard_input(
    shell: Any, api: Answers, tmp_path: Path
) -> None:
    api.on("PUT /v1/workflows/etl", ETL)
    api.on("PUT /v1/workflows/other", {**ETL, "name": "other"})
    file = tmp_path / "etl.json"
    file.write_text(json.dumps(ETL))

    result = shell("workflows", "put", str(file))
    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout == "etl has version 3\nRun it: duetime runs submit etl\n"
    shell("workflows", "put", "-", "--name", "other", stdin=json.dumps({"steps": ETL["steps"]}))
    assert [body for _, body in api.asked] == [{"steps": ETL["steps"]}] * 2


def test_workflow_is_put_from_python(
    shell: Any, api: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.on("PUT /v1/workflows/nightly", {"order": [["a"], ["b", "c"]]})
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shop_flows_for_cli.py").write_text(
        "from duetime import workflow\n"
        "nightly = workflow('nightly')\n"
        "nightly.step('a', {'type': 'http', 'url': 'https://example.com'})\n"
        "other = 3\n"
    )

    result = shell("workflows", "put", "shop_flows_for_cli:nightly", "--dry-run")

    assert result.stdout.splitlines()[1:] == ["  1  a", "  2  b, c"]
    [(query, body)] = api.asked
    assert "dry_run" in query
    assert [step["name"] for step in body["steps"]] == ["a"]
    for source, reason in (
        ("shop_flows_for_cli:other", "is not a workflow"),
        ("no_such_module_for_cli:x", "there is no module 'no_such_module_for_cli'"),
        ("missing.json", "cannot read missing.json"),
    ):
        refused = shell("workflows", "put", source)
        assert refused.exit_code == ExitCode.USAGE
        assert reason in " ".join(refused.stderr.split())


def test_workflow_is_shown_as_a_graph(shell: Any, api: Answers) -> None:
    api.on("GET /v1/workflows/etl", ETL)

    lines = shell("workflows", "show", "etl", "--version", "3").stdout.splitlines()

    assert "version" in api.asked[0][0]
    assert lines[:-2] == [
        "etl@3",
        "extract  shop.extract",
        "  ↓",
        "a  POST https://example.com/rows  for each item",
        "pause  wait 1 min",
        "  ↓",
        "load  workflow other  ← a",
        "  ↓",
        "clean  POST https://example.com/rows  at the end, always",
    ]
    assert lines[-1] == "run it: duetime runs submit etl"


def test_empty_lists_say_what_to_type(shell: Any, api: Answers) -> None:
    empty = {"items": [], "next_cursor": None}
    api.on("GET /v1/workflows", empty)
    api.on("GET /v1/runs", empty)

    assert "duetime workflows put etl.json" in shell("workflows", "list").stdout
    assert "duetime runs submit NAME" in shell("runs", "list").stdout
    assert shell("runs", "list", "--status", "failed").stdout == "No run matches.\n"


def test_workflows_and_runs_are_listed_and_deleted(shell: Any, api: Answers) -> None:
    api.on("GET /v1/workflows", {"items": [ETL], "next_cursor": None})
    run = a_run("RUNNING", counts={"SUCCEEDED": 2, "RUNNING": 1})
    api.on("GET /v1/runs", {"items": [run], "next_cursor": None})
    api.on("DELETE /v1/workflows/etl", None, status=204)

    assert "etl" in shell("workflows", "list").stdout
    row = shell("runs", "list").stdout.splitlines()[1]
    assert "etl@3" in row
    assert "2 SUCCEEDED, 1 RUNNING" in row
    assert json.loads(shell("runs", "list", "--json").stdout)["items"] == [run]
    assert shell("workflows", "delete", "etl").stdout == "Deleted etl\n"


def test_run_is_submitted_with_its_options(shell: Any, api: Answers) -> None:
    api.on("POST /v1/runs", a_run("RUNNING"), status=201)
    words = ("--input", '{"day": 1}', "--key", "k", "--in", "1m", "--tag", "team=growth")

    result = shell("runs", "submit", "etl@3", *words)

    assert result.stdout == "r1 has started\nFollow it: duetime runs watch r1\n"
    assert api.asked[0][1] == {
        "workflow": "etl@3",
        "input": {"day": 1},
        "idempotency_key": "k",
        "delay": 60.0,
        "tags": {"team": "growth"},
    }


def test_run_is_cancelled_and_retried(shell: Any, api: Answers) -> None:
    api.on("DELETE /v1/runs/r1", a_run("CANCELLING"), status=202)
    api.on("POST /v1/runs/r1/retry", a_run("RUNNING", attempt=2))

    assert shell("runs", "cancel", "r1").stdout == "r1 is CANCELLING\n"
    retried = shell("runs", "retry", "r1", "--step", "load", "--step", "b").stdout
    assert retried.startswith("r1 is RUNNING, attempt 2\n")
    assert api.asked[1][1] == {"steps": ["load", "b"]}
    shell("runs", "retry", "r1")
    assert api.asked[2][1] is None


def test_running_run_shows_its_graph_and_the_step_that_holds_it_up(
    shell: Any, api: Answers
) -> None:
    run = a_run(
        "RUNNING",
        a_step("extract", "SUCCEEDED", started_at=at(60), finished_at=at(58)),
        a_step("a", "SUCCEEDED", "extract", started_at=at(58), finished_at=at(50)),
        a_step("load", "RUNNING", "extract", attempt=2, started_at=at(12)),
        a_step("skipped", "SKIPPED", "extract", attempt=0, reason="condition"),
        a_step("report", "BLOCKED", "a", "load", attempt=0),
    )

    assert shown(run) == [
        "r1  etl@3  RUNNING  1 min",
        "extract  SUCCEEDED  2.0 s",
        "  ↓",
        "a  SUCCEEDED  8.0 s",
        "load  RUNNING  attempt 2  12 s",
        "skipped  SKIPPED  (its condition was not met)",
        "  ↓",
        "report  BLOCKED  ← a, load",
        "waiting for: load (RUNNING for 12 s)",
    ]
    api.on("GET /v1/runs/r1", run)
    assert "waiting for: load (RUNNING for" in shell("runs", "show", "r1").stdout
    assert json.loads(shell("runs", "show", "r1", "--json").stdout) == run


def test_failed_run_says_what_failed_and_how_to_retry() -> None:
    error = {"step": "b", "type": "ValueError", "message": "no\nrows", "task_id": "t1"}
    skipped = [a_step(n, "SKIPPED", "b", attempt=0, reason="upstream") for n in ("x", "y", "z")]
    run = a_run("FAILED", a_step("b", "DEAD", attempt=5), *skipped, error=error)

    assert shown(run)[-2:] == [
        "failed: b — ValueError: no rows; 3 steps did not run",
        "retry with: duetime runs retry r1",
    ]


def test_run_that_succeeded_shows_its_result() -> None:
    run = a_run("SUCCEEDED", a_step("load", "SUCCEEDED"), result={"rows": 120})

    assert shown(run)[-1] == 'result: {"rows": 120}'


def test_wide_level_of_a_run_is_folded() -> None:
    statuses = ["SUCCEEDED"] * 91 + ["RUNNING"] * 8 + ["DEAD"]
    steps = [a_step(f"s{n}", status) for n, status in enumerate(statuses)]
    run = a_run("RUNNING", *steps, a_step("join", "BLOCKED", *(s["name"] for s in steps)))

    lines = shown(run)
    assert [line.split()[0] for line in lines[1:5]] == ["s91", "s92", "s93", "s99"]
    assert lines[5] == "… 96 more: 91 SUCCEEDED, 5 RUNNING"
    assert lines[6:8] == ["  ↓", "join  BLOCKED"]
    assert lines[8].startswith("waiting for: s91 (RUNNING), s92 (RUNNING), s93 (RUNNING) and 5")
    assert len(shown(run, everything=True)) == len(steps) + 5


@pytest.mark.parametrize(
    ("end", "code"),
    [("SUCCEEDED", ExitCode.OK), ("FAILED", ExitCode.NOT_DONE), ("CANCELLED", ExitCode.NOT_DONE)],
)
def test_watch_prints_each_change_until_the_run_is_over(
    shell: Any, api: Answers, end: str, code: ExitCode
) -> None:
    before = a_run("RUNNING", a_step("a", "RUNNING"), a_step("b", "SUCCEEDED"))
    after = a_run(end, a_step("a", "SUCCEEDED"), a_step("b", "SUCCEEDED"))
    api.on("GET /v1/runs/r1", before, before, after)

    result = shell("runs", "watch", "r1", "--every", "0.05")

    assert result.exit_code == code
    words = [line.split()[1:3] for line in result.stdout.splitlines()]
    changes = [["a", "RUNNING"], ["b", "SUCCEEDED"], ["r1", "etl@3"]]
    assert words[:5] == [*changes, ["a", "SUCCEEDED"], ["r1", "etl@3"]]
    as_json = shell("runs", "watch", "r1", "--json")
    assert (json.loads(as_json.stdout)["status"], as_json.exit_code) == (end, code)


def test_submitted_run_is_watched_until_the_wait_ends(shell: Any, api: Answers) -> None:
    api.on("POST /v1/runs", a_run("RUNNING"), status=201)
    api.on("GET /v1/runs/r1", a_run("RUNNING"))

    words = ("--watch", "--wait", "0.1", "--every", "0.05")
    assert shell("runs", "submit", "etl", *words).exit_code == ExitCode.TIMED_OUT


def test_unknown_run_has_its_own_exit_code(shell: Any, api: Answers) -> None:
    problem = {"title": "Not found", "status": 404, "detail": "There is no such run."}
    api.on("GET /v1/runs/r9", problem, status=404)

    assert shell("runs", "show", "r9").exit_code == ExitCode.NOT_FOUND
