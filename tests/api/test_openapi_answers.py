"""Models of the answers have exactly the fields of real answers, so they cannot drift apart."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from duetime import PermanentError
from duetime.api.app import Api
from duetime.api.http import Request
from duetime.core.arns import EXAMPLES
from duetime.core.lanes import Lane
from duetime.core.lifecycle import Status
from duetime.core.limits.definition import LimitUse
from duetime.core.stats.counts import Counts, LaneCounts
from duetime.core.suspension import Suspension, WaitsFor
from duetime.core.task import ORDERING_KEY
from duetime.core.times import DAY, HOUR, MINUTE
from duetime.handlers.context import Context
from tests.api.openapi import (
    CROWDED,
    HELLO,
    POOL,
    System,
    a_system,
    by_operation,
    document,
    undocumented,
    wrong_in,
)
from tests.factories import NOW, a_spec, a_task
from tests.workflows import settle

PYTHON = {"type": "python", "handler": HELLO}
SYNC = "/v1/schedules/sync"
SECRET = {"$secret": "shop"}
HTTP = {"type": "http", "url": "https://example.com/hook", "headers": {"x-token": "s"}}
SIGNED = {**HTTP, "headers": {"x-token": SECRET, "x-team": "growth"}, "sign": SECRET}
MESSAGE = {"group": "g", "attributes": {"a": "b"}}
TABLE = {"type": "dynamodb", "table": EXAMPLES["dynamodb"]}
EVENT = {"source": "shop", "detail_type": "paid", "resources": ["r"]}
ANN = "Ann <ann@example.com>"
SERVICES: Sequence[tuple[Any, Any]] = [
    ({"type": "sqs", "queue": EXAMPLES["sqs"], "delay": 5, **MESSAGE}, 1),
    ({"type": "sns", "topic": EXAMPLES["sns"], "subject": "s", **MESSAGE}, 1),
    ({"type": "eventbridge", "bus": EXAMPLES["eventbridge"], **EVENT}, {}),
    (
        {
            "type": "lambda",
            "function": EXAMPLES["lambda"],
            "invocation": "async",
            "envelope": True,
        },
        1,
    ),
    ({"type": "stepfunctions", "state_machine": EXAMPLES["stepfunctions"]}, {}),
    ({**TABLE, "action": "put", "if_absent": "id"}, {"item": {"id": "a"}}),
    (
        {"type": "email", "from": ANN, "to": ANN, "cc": [ANN], "bcc": ANN, "reply_to": ANN},
        {"subject": "s", "text": "t"},
    ),
    ({"type": "sql", "database": "main", "statement": "SELECT :a"}, {"a": 1}),
    ({"type": "workflow", "workflow": "etl@1", "input": {"a": 1}}, None),
]
SUMMARIES = {"fields": "summary", "namespace": "*"}
SOONEST = {"order": "soonest"}
DAILY = {"type": "cron", "expression": "30 2 * * *", "timezone": "Europe/Berlin"}
DST = {"gap": "shift", "overlap": "both"}
SIX_FIELDS = {**DAILY, "expression": "0 30 2 1 * 1", "seconds": "first", "days": "both", "dst": DST}
DATES = {"type": "dates", "dates": ["2030-12-24"], "timezone": "UTC"}

Found = dict[str, list[Any]]  # real values, by the name of their schema


def schema_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = document()["components"]["schemas"][name]
    return found


def collect(schema: dict[str, Any], value: Any, found: Found) -> None:
    """Files a real value, and all values in it, under the schemas that they fit."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        found[name].append(value)
        schema = schema_of(name)
    for option in (*schema.get("anyOf", []), *schema.get("oneOf", [])):
        if not wrong_in(option, value):
            collect(option, value, found)
    if isinstance(value, dict):
        for name, inner in value.items():
            collect(schema.get("properties", {}).get(name, {}), inner, found)
    if isinstance(value, list):
        for inner in value:
            collect(schema.get("items", {}), inner, found)


STEP_FIELDS: dict[str, Any] = {
    "retry": {"max_attempts": 2},
    "limits": [],
    "tags": {"a": "b"},
    "when": {"input": {"urls": [{"exists": True}]}},
    "map": {"items": "{{input.urls}}"},
    "callback": {"timeout": 60},
}


def workflow_answers(system: System) -> Iterator[tuple[str, Any]]:
    step = {"name": "a", "target": PYTHON, **STEP_FIELDS}
    yield "Workflow", system.body("PUT", "/v1/workflows/etl", {"steps": [step]})
    yield "WorkflowSummaryList", system.body("GET", "/v1/workflows")
    dry = {"dry_run": "true"}
    order = system.body("PUT", "/v1/workflows/etl", {"steps": [step]}, query=dry)
    yield "WorkflowOrOrder", order
    yield "RunOrOrder", order
    steps = [{"name": "m", "target": PYTHON, "map": {"items": 1}}]
    yield "Run", (run := system.body("POST", "/v1/runs", {"steps": steps}))
    settle(system.world)
    yield "Run", (failed := system.body("GET", f"/v1/runs/{run['id']}"))
    assert failed["status"] == "FAILED"
    yield "Run", system.body("GET", f"/v1/runs/{failed['steps'][0]['run_id']}")
    yield "RunItemList", system.body("GET", f"/v1/runs/{run['id']}/steps/m/items")
    yield "RunSummaryList", system.body("GET", "/v1/runs")
    failing, system.world.script = system.world.script, lambda task, ctx: "done"
    sent = system.send_after(by_operation("sendCallback"))
    system.world.script = failing
    assert sent.status == 200, sent.body
    yield "Accepted", sent.body
    for kind in WaitsFor:
        waiting = a_task(status=Status.WAITING, suspended=Suspension(kind=kind, id="x"))
        system.world.store.put([waiting])
        yield "Task", system.body("GET", f"/v1/tasks/{waiting.id}")


def task_answers(system: System) -> Iterator[tuple[str, Any]]:
    def report_and_fail(task: Any, ctx: Context) -> Any:
        ctx.progress(0.5, "half")
        raise PermanentError("it must fail")

    system.world.script = report_and_fail
    full = {"name": "n", "namespace": "a", "ordering_key": "o", "tags": {"a": "b"}}
    full |= {"expires_at": "2040-01-01T00:00:00Z", "idempotency_key": "k", "jitter": 1}
    full |= {"limits": [{"name": "stripe", "key": "acct-7"}], "fairness_key": "f"}
    full |= {"unique": {"key": "u", "while": "pending", "on_conflict": "reject"}}
    limit = {"rate": {"count": 5, "period": 1}, "concurrency": 3}
    in_a = {"namespace": "a"}
    yield "Limit", system.body("PUT", "/v1/limits/stripe", limit, query=in_a)
    yield "LimitList", system.body("GET", "/v1/limits", query=in_a)
    yield from workflow_answers(system)
    yield "NewTask", (task := system.body("POST", "/v1/tasks", {"target": PYTHON, **full}))
    for target, payload in [(HTTP, None), (SIGNED, None), *SERVICES]:
        body = {"target": target, "payload": payload, "delay": 3_600}
        yield "NewTask", system.body("POST", "/v1/tasks", body)
    system.world.advance(MINUTE)
    system.world.deliver()
    path = f"/v1/tasks/{task['id']}"
    yield "Task", (dead := system.body("GET", path))
    assert (dead["status"], dead["progress"]) == ("DEAD", {"fraction": 0.5, "message": "half"})
    yield "FoundTasks", system.body("GET", "/v1/tasks", query={"namespace": "*"})
    yield "FoundTasks", (short := system.body("GET", "/v1/tasks", query=SUMMARIES))
    assert {"url", "handler"} <= {name for item in short["items"] for name in item["target"]}
    yield "FoundTasks", (soon := system.body("GET", "/v1/tasks", query=SUMMARIES | SOONEST))
    assert len(soon["items"]) == len(SERVICES) + 2
    yield "TaskList", system.body("GET", "/v1/dead-letters")
    yield "DeadGroups", (groups := system.body("GET", "/v1/dead-letters/groups"))
    assert groups["items"]
    yield "AttemptList", system.body("GET", f"{path}/attempts")
    redrive = {"ids": [task["id"], "missing"]}
    yield "RedriveResult", system.body("POST", "/v1/dead-letters/redrive", redrive)
    discarded = {"ids": [task["id"], "missing"], "dry_run": "true"}
    yield "BulkResult", system.body("DELETE", "/v1/dead-letters", query=discarded)
    purge = {"older_than": 0, "dry_run": True}
    yield "PurgeResult", system.body("POST", "/v1/purge", purge)
    tasks = [{"target": PYTHON}, {"target": PYTHON, "timeout": 0}]
    yield "BatchResults", system.body("POST", "/v1/tasks/batch", {"tasks": tasks})
    crowd = [{"target": PYTHON, "delay": 7_200}] * CROWDED
    yield "BatchResults", (stored := system.body("POST", "/v1/tasks/batch", {"tasks": crowd}))
    assert stored["results"][-1]["task"]["hints"]
    yield "Quota", system.body("GET", "/v1/quota")
    yield "LiveTicket", system.body("POST", "/v1/live/tickets")
    for held in (0, ORDERING_KEY):
        uses = (LimitUse(name="stripe", key="acct-7"),)
        spec = a_spec(run_at=NOW, limits=uses, ordering_key="o")
        waiting = a_task(spec=spec, held=held)
        system.world.store.put([waiting])
        yield "Task", system.body("GET", f"/v1/tasks/{waiting.id}")
    system.world.advance(MINUTE)
    yield "StuckList", (stuck := system.body("GET", "/v1/stuck"))
    assert any("waiting_for" in item for item in stuck["items"])
    yield "Me", system.body("GET", "/v1/me")
    yield "HandlerList", system.body("GET", "/v1/handlers")
    yield "LaneList", system.body("GET", "/v1/lanes")
    yield "Forecast", system.body("GET", "/v1/forecast", query={"hours": "24", "by": "lane"})
    yield from stats_answers(system)
    yield "Health", system.body("GET", "/v1/health")
    cron = {"rule": {**DAILY, "expression": "99 * * * *"}, "task": {"target": PYTHON}}
    yield "Problem", system.call("POST", "/v1/schedules", cron).body


def stats_answers(system: System) -> Iterator[tuple[str, Any]]:
    numbers = {"succeeded": 1, "drift3": 1, "took2": 1, "planned10": 1}
    counts = Counts(numbers, {"drift_max": 9, "took_max": 4})
    minute = system.world.clock.now() // MINUTE * MINUTE
    system.stats.add([LaneCounts(start=minute, lane=Lane.HIGH, counts=counts)])
    yield "Stats", system.body("GET", "/v1/stats")
    deployed = Api(system.world.ports, handlers=set, version="9.9.9")
    yield "Stats", deployed.call(Request(method="GET", path="/v1/stats")).body
    yield "Slo", system.body("GET", "/v1/slo")
    yield "Slo", deployed.call(Request(method="GET", path="/v1/slo")).body


def schedule_answers(system: System) -> Iterator[tuple[str, Any]]:
    system.world.script = lambda task, ctx: "done"
    full = {"name": "n", "max_runs": 99, "jitter": 1, "pause_on_failure": 3, "overlap": "queue"}
    full |= {"starts_at": "2026-01-01T00:00:00Z", "ends_at": "2035-01-01T00:00:00Z"}
    full |= {"misfire": {"policy": "skip", "window": 60}, "exclude": [DATES]}
    task = {"target": PYTHON, "name": "t", "ordering_key": "o"}
    one = {"rule": DAILY, "task": task, **full}
    yield "Schedule", (made := system.body("POST", "/v1/schedules", one))
    rate = {"type": "rate", "every": 60, "anchor": "2026-01-01T00:00:00Z"}
    two = {"rules": [SIX_FIELDS, rate], "task": {"target": HTTP}}
    yield "Schedule", system.body("POST", "/v1/schedules", two)
    delay = {"rule": {"type": "delay", "delay": 60}, "task": {"target": PYTHON}}
    yield "Schedule", system.body("POST", "/v1/schedules", delay)
    yield "ScheduleList", system.body("GET", "/v1/schedules")
    yield "Generation", (taken := system.body("POST", SYNC + "/generations", {"app": "shop"}))
    declared = {"name": "n", "rule": one["rule"], "task": one["task"], "source": "a.py:1"}
    yield "SyncPlan", system.body("POST", SYNC, {**taken, "schedules": [declared]})
    path = f"/v1/schedules/{made['id']}"
    yield "FireTimes", system.body("GET", f"{path}/upcoming", query={"count": "100"})
    preview = {"rule": DAILY, "after": "2027-03-01T00:00:00Z", "count": 100}
    yield "Preview", (shown := system.body("POST", "/v1/schedules/preview", preview))
    assert shown["daylight_saving"]
    yield "BackfillAccepted", system.body("POST", f"{path}/backfill", a_week_ago(system))
    system.world.live(2 * MINUTE)
    yield "LedgerEntryList", (ledger := system.body("GET", f"{path}/ledger"))
    assert any(entry.get("backfill") for entry in ledger["items"])
    system.body("POST", f"{path}/pause", {"note": "n"})
    system.world.live(30 * HOUR, step=HOUR)
    yield "Schedule", system.body("GET", path)
    yield "LedgerEntryList", system.body("GET", f"{path}/ledger")
    yield "Task", system.body("POST", f"{path}/trigger")
    yield "FoundTasks", system.body("GET", "/v1/tasks", query={"schedule_id": made["id"]})


def worker_answers(system: System) -> Iterator[tuple[str, Any]]:
    """A run of a schedule, the second one, on an HTTP worker."""
    system.world.script = lambda task, ctx: "done"
    of_a_pool = system.body("POST", "/v1/tasks", {"target": PYTHON, "pool": POOL})
    yield "Task", (waiting := system.body("GET", f"/v1/tasks/{of_a_pool['id']}"))
    assert waiting["waiting_for"] == {"worker": HELLO, "pool": POOL}
    every = {"type": "rate", "every": 600}
    system.body("POST", "/v1/schedules", {"rule": every, "task": {"target": PYTHON}})
    system.world.live(15 * MINUTE)
    system.world.advance(6 * MINUTE)
    system.world.tick()
    wanted = {"worker": "w1", "handlers": [HELLO], "request": "01KA5V8Y3M0000000000000003"}
    leased = system.body("POST", "/v1/workers/lease", {**wanted, "max": 100})
    yield "LeaseAnswer", leased
    [lease] = [each for each in leased["leases"] if each["previous"]]
    named = {"id": lease["task"]["id"], "holder": lease["holder"]}
    of_no_task = {**named, "holder": "w:w1:0"}
    renewals = {"worker": "w1", "leases": [named, of_no_task]}
    yield "RenewAnswer", system.body("POST", "/v1/workers/renew", renewals)
    yield "WorkerList", system.body("GET", "/v1/workers")
    ends = [{**each, "outcome": "succeeded"} for each in (named, of_no_task)]
    outcomes = {"worker": "w1", "outcomes": ends}
    yield "OutcomeAnswer", system.body("POST", "/v1/workers/outcome", outcomes)


def a_week_ago(system: System) -> dict[str, str]:
    from duetime.core.times import rfc3339

    now = system.world.clock.now()
    return {"from": rfc3339(now - 7 * DAY), "to": rfc3339(now - 5 * DAY)}


@pytest.fixture(scope="module")
def real() -> list[tuple[str, Any]]:
    with a_system() as system:
        found = [*task_answers(system), *schedule_answers(system)]
    with a_system() as system:
        return [*found, *worker_answers(system)]


def test_every_field_of_a_real_answer_is_in_its_schema(real: list[tuple[str, Any]]):
    for name, body in real:
        wrong = wrong_in({"$ref": f"#/components/schemas/{name}"}, body)
        assert wrong == [], f"{name} in duetime/api/openapi/*answers.py does not fit a real answer"


OF_THE_GATEWAY = {"GatewayMessage"}
# They need a stored value of an earlier release, or a rule that has become invalid.
RARE = {"TaskTemplate.not_shown", "LedgerEntry.error", "LedgerEntry.reason"}


def test_every_field_of_a_schema_is_in_a_real_answer(real: list[tuple[str, Any]]):
    found: Found = defaultdict(list)
    for name, body in real:
        collect({"$ref": f"#/components/schemas/{name}"}, body, found)
    answered = {
        f"{name}.{field}"
        for name, values in found.items()
        for value in values
        if isinstance(value, dict)
        for field in value
    }
    answers = {name for name in document()["components"]["schemas"] if not name.endswith("Input")}
    described = {
        f"{name}.{field}"
        for name in answers - OF_THE_GATEWAY
        for field in schema_of(name).get("properties", {})
    }
    assert described - answered == RARE


def test_answers_about_headers_are_documented():
    with a_system() as system:
        task = system.body("POST", "/v1/tasks", {"target": PYTHON})
        path = f"/v1/tasks/{task['id']}"
        etag = system.call("GET", path).headers["etag"]
        unchanged = system.call("GET", path, headers={"if-none-match": etag})
        encoded = system.call("POST", "/v1/tasks", {}, headers={"content-encoding": "br"})

        run = f"/v1/runs/{system.send(by_operation('startRun')).body['id']}"
        etag = system.call("GET", run).headers["etag"]
        same_run = system.call("GET", run, headers={"if-none-match": etag})

    assert (unchanged.status, same_run.status, encoded.status) == (304, 304, 415)
    assert undocumented(by_operation("getTask"), unchanged) == []
    assert undocumented(by_operation("getRun"), same_run) == []
    assert undocumented(by_operation("submitTask"), encoded) == []
