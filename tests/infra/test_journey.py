"""Tasks run through the deployed stack: submit, store, scan, lane, execute, record, relay."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from duetime.api.openapi import resource as openapi
from duetime.aws import schema
from duetime.core.lanes import MAX_RECEIVES, Lane
from duetime.core.times import HOUR, MINUTE, SECOND
from infra.bundle import Machine, make_bundles
from infra.stack import DuetimeStack
from infra.stage import Stage
from tests.infra.conftest import CONTEXT, a_stage
from tests.infra.deployed import Deployed, moto_server
from tests.infra.functions import Reply
from tests.infra.test_permissions import GRANTED, queue_of
from tests.infra.test_permissions import granted as granted_in
from tests.infra.transform import LEFT_OUT, transformed
from tests.lambdas.conftest import recorded

HIGH, MEDIUM, LOW = (f"duetime-dev-{lane}" for lane in Lane)

HALF_PAST = 30 * MINUTE  # of an hour

Flow = Callable[[Deployed], None]
played: set[Flow] = set()


Deploy = Callable[[Stage], Deployed]


@pytest.fixture(scope="module")
def deploy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploy]:
    """Deploys stages into one account."""
    made: list[Deployed] = []
    with moto_server(tmp_path_factory.mktemp("moto")) as endpoint:

        def deploying(stage: Stage) -> Deployed:
            assembly, scratch = (tmp_path_factory.mktemp(n) for n in ("assembly", "scratch"))
            app = cdk.App(context=CONTEXT, outdir=str(assembly))
            DuetimeStack(app, stage=stage, bundles=make_bundles(stage.handlers, Machine.this()))
            app.synth()
            made.append(Deployed(assembly, endpoint, scratch))
            return made[-1]

        yield deploying
        for deployed in made:
            deployed.close()


@pytest.fixture(scope="module")
def deployed(deploy: Deploy) -> Deployed:
    # One task a second, so that a small crowd has to wait.
    return deploy(a_stage("dev", slices=2, catch_up=1, callbacks=True))


def submit(deployed: Deployed, handler: str = "demo.hello", **fields: Any) -> str:
    target = {"type": "python", "handler": handler}
    status, task = deployed.call("POST", "/v1/tasks", {"target": target, **fields})
    assert status == 201, task
    return task["id"]


def read(deployed: Deployed, task_id: str) -> dict[str, Any]:
    status, task = deployed.call("GET", f"/v1/tasks/{task_id}")
    assert status == 200
    return task


def figures(reply: Reply) -> dict[str, list[float]]:
    """Returns the published metrics by name."""
    return {
        metric["Name"]: body[metric["Name"]]
        for body in reply.printed
        for directive in body.get("_aws", {}).get("CloudWatchMetrics", [])
        for metric in directive["Metrics"]
    }


# Each of these is one path through the system.


def at_once(deployed: Deployed) -> None:
    task_id = submit(deployed, payload={"name": "Ada"}, priority="high")
    _, lanes = deployed.call("GET", "/v1/lanes")
    assert [lane["depth"] for lane in lanes["items"]] == [1, 0, 0]
    assert deployed.deliver(HIGH) == 1
    task = read(deployed, task_id)
    assert (task["status"], task["result"]["greeting"]) == ("SUCCEEDED", "Hello, Ada!")
    assert deployed.waiting(HIGH) == 0
    published = figures(deployed.relay())
    assert (published["FastPath"][-1], published["Succeeded"][-1]) == (1, 1)
    assert published["Drift"][-1] == task["drift_ms"]


def later(deployed: Deployed) -> None:
    task_id = submit(deployed, payload={"name": "Zoë"}, delay=600, priority="low")
    assert deployed.deliver(LOW) == 0
    deployed.now += 599 * SECOND
    ticks = deployed.tick()
    assert sum(tick.answer["claimed"] for tick in ticks) == 1
    assert {"Claims": [1]}.items() <= {
        k: v for tick in ticks for k, v in figures(tick).items()
    }.items()
    assert read(deployed, task_id)["status"] == "ENQUEUED"
    deployed.now += SECOND
    assert deployed.deliver(LOW) == 1
    task = read(deployed, task_id)
    assert (task["status"], task["result"]["greeting"]) == ("SUCCEEDED", "Hello, Zoë!")
    assert task["drift_ms"] >= 0


def under_a_limit(deployed: Deployed) -> None:
    limit = {"rate": {"count": 100, "period": 1}, "concurrency": 3}
    status, put = deployed.call("PUT", "/v1/limits/stripe", limit)
    assert (status, put["concurrency"]) == (200, 3)
    assert deployed.call("GET", "/v1/limits")[1]["items"] == [put]
    unknown = {"target": {"type": "python", "handler": "demo.hello"}, "limits": [{"name": "strip"}]}
    status, problem = deployed.call("POST", "/v1/tasks", unknown)
    assert (status, problem["errors"][0]["field"]) == (422, "limits.0.name")
    assert "did you mean 'stripe'?" in problem["errors"][0]["message"]

    task_id = submit(deployed, payload={"name": "Bo"}, limits=[{"name": "stripe", "key": "a7"}])
    assert deployed.deliver(MEDIUM) == 1
    assert read(deployed, task_id)["status"] == "SUCCEEDED"
    deployed.relay()
    assert deployed.call("DELETE", "/v1/limits/stripe")[0] == 204
    assert deployed.call("GET", "/v1/limits/stripe")[0] == 404


def in_a_child_process(deployed: Deployed) -> None:
    task_id = submit(deployed, "video.encode", payload={"rounds": 1_000})
    assert deployed.deliver(MEDIUM) == 1
    assert read(deployed, task_id)["status"] == "SUCCEEDED"


def twice(deployed: Deployed) -> None:
    """A long payload, a failed attempt, and one that succeeds."""
    payload = {"failures": 1, "text": "x" * 20_000}
    retry = {"base_delay": 0, "jitter": 0}
    task_id = submit(deployed, "demo.flaky", payload=payload, retry=retry)
    assert [deployed.deliver(MEDIUM) for _ in range(2)] == [1, 1]
    task = read(deployed, task_id)
    assert (task["status"], task["attempt"], task["payload"]) == ("SUCCEEDED", 2, payload)
    _, attempts = deployed.call("GET", f"/v1/tasks/{task_id}/attempts")
    assert [a["outcome"] for a in attempts["items"]] == ["failed", "succeeded"]
    assert figures(deployed.relay())["Retries"] == [1]
    removed(deployed, task_id)


def removed(deployed: Deployed, task_id: str) -> None:
    """After the retention DynamoDB removes the task, and the relay deletes its dependent rows."""
    dynamodb, pk = deployed.client("dynamodb"), {"S": schema.task_pk(task_id)}
    table = deployed.functions_table()
    key = {schema.PK: pk, schema.SK: {"S": schema.TASK}}
    item = dynamodb.get_item(TableName=table, Key=key)["Item"]
    assert schema.REMOVE_AFTER in item
    dynamodb.delete_item(TableName=table, Key=key)
    deployed.relay(
        [
            {
                "eventName": "REMOVE",
                "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
                "dynamodb": {
                    "Keys": key,
                    "OldImage": item,
                    "SequenceNumber": "1",
                    "ApproximateCreationDateTime": deployed.now / SECOND,
                },
            }
        ]
    )
    condition = {"KeyConditionExpression": f"{schema.PK} = :pk"}
    left = dynamodb.query(TableName=table, ExpressionAttributeValues={":pk": pk}, **condition)
    assert left["Items"] == []


def receives_until_dead(deployed: Deployed, queue: str) -> int:
    receives = 0
    while deployed.deliver(queue):
        receives += 1
        deployed.show_kept()
    return receives


def to_the_dead_and_back(deployed: Deployed) -> None:
    """SQS moves the last message to the dead letters; the console moves it back."""
    payload, retry = {"failures": 1}, {"max_attempts": 1}
    task_id = submit(deployed, "demo.flaky", payload=payload, retry=retry)
    assert receives_until_dead(deployed, MEDIUM) == MAX_RECEIVES
    assert read(deployed, task_id)["status"] == "DEAD"
    assert (deployed.waiting(MEDIUM), deployed.waiting(f"{MEDIUM}-dlq")) == (0, 1)
    _, dead = deployed.call("GET", "/v1/dead-letters")
    assert [task["id"] for task in dead["items"]] == [task_id]
    assert figures(deployed.relay())["Dead"] == [1]

    deployed.now += 2 * MINUTE
    assert deployed.redrive(MEDIUM) == 1
    assert deployed.deliver(MEDIUM) == 1  # it is revived, and has a message of its own
    assert read(deployed, task_id)["status"] == "RETRYING"
    assert deployed.deliver(MEDIUM) == 1
    task = read(deployed, task_id)
    assert (task["status"], task["attempt"]) == ("SUCCEEDED", 2)
    assert (deployed.waiting(MEDIUM), deployed.waiting(f"{MEDIUM}-dlq")) == (0, 0)


def back_into_another_lane(deployed: Deployed) -> None:
    """The console moves a dead letter of the lane low to the queue of the lane high, whose executor
    revives the task and sends it to its lane."""
    payload, retry = {"failures": 1}, {"max_attempts": 1}
    task_id = submit(deployed, "demo.flaky", payload=payload, retry=retry, priority="low")
    assert receives_until_dead(deployed, LOW) == MAX_RECEIVES
    deployed.now += 2 * MINUTE
    assert deployed.redrive(LOW, to=HIGH) == 1
    assert deployed.deliver(HIGH) == 1
    assert read(deployed, task_id)["status"] == "RETRYING"
    assert [deployed.waiting(queue) for queue in (HIGH, LOW)] == [0, 1]
    assert deployed.deliver(LOW) == 1
    assert read(deployed, task_id)["status"] == "SUCCEEDED"


def from_a_lost_message(deployed: Deployed) -> None:
    task_id = submit(deployed)
    deployed.client("sqs").purge_queue(QueueUrl=deployed.url(MEDIUM))
    deployed.now += 5 * MINUTE
    assert sum(tick.answer["sent"] for tick in deployed.tick()) == 1
    assert deployed.deliver(MEDIUM) == 1
    assert read(deployed, task_id)["status"] == "SUCCEEDED"


def lose_messages(deployed: Deployed, name: str) -> None:
    """SQS purges a queue once a minute at most."""
    sqs, queue = deployed.client("sqs"), {"QueueUrl": deployed.url(name)}
    for lost in sqs.receive_message(**queue, MaxNumberOfMessages=10)["Messages"]:
        sqs.delete_message(**queue, ReceiptHandle=lost["ReceiptHandle"])


def in_order_after_lost_messages(deployed: Deployed) -> None:
    keys = ("order-7", "order-8")
    first = [submit(deployed, ordering_key=key) for key in keys]
    lose_messages(deployed, MEDIUM)
    deployed.now += SECOND
    second = [submit(deployed, ordering_key=key) for key in keys]
    assert deployed.deliver(MEDIUM) == 2
    assert [read(deployed, task_id)["waiting_for"] for task_id in second] == [
        {"ordering_key": key} for key in keys
    ]
    for ids in (first, second):
        deployed.now += MINUTE
        deployed.tick()
        assert deployed.deliver(MEDIUM) == 2
        assert {read(deployed, task_id)["status"] for task_id in ids} == {"SUCCEEDED"}
    deployed.now += MINUTE
    deployed.tick()


def to_its_cancellation(deployed: Deployed) -> None:
    task_id = submit(deployed, delay=3_600)
    status, task = deployed.call("DELETE", f"/v1/tasks/{task_id}")
    assert (status, task["status"]) == (200, "CANCELLED")
    _, page = deployed.call("GET", "/v1/tasks?status=CANCELLED")
    assert [listed["id"] for listed in page["items"]] == [task_id]


def out_of_a_crowd(deployed: Deployed) -> None:
    """More wakes than one read returns, and a tick that runs out of time."""
    wanted = {"target": {"type": "python", "handler": "demo.hello"}, "delay": 3_600}
    for _ in range(6):
        status, _ = deployed.call("POST", "/v1/tasks/batch", {"tasks": [wanted] * 100})
        assert status == 200
    task_id = submit(deployed, delay=600)
    _, soonest = deployed.call("GET", "/v1/tasks?order=soonest&limit=1")
    assert [task["id"] for task in soonest["items"]] == [task_id]
    deployed.now += 560 * SECOND
    cut_off = deployed.tick(milliseconds=0)
    assert any(tick.answer["unfinished"] for tick in cut_off)
    deployed.now += 39 * SECOND  # its chain counts as dead, and the next tick takes over
    deployed.tick()
    deployed.now += SECOND
    assert deployed.deliver(MEDIUM) == 1
    assert read(deployed, task_id)["status"] == "SUCCEEDED"


def after_an_outage(deployed: Deployed) -> None:
    """The tasks are overdue, and enter their lane at a pace."""
    deployed.now += 2 * HOUR
    published = [figures(tick) for tick in deployed.tick()]
    assert sum(of_slice["HeldBack"][0] for of_slice in published if "HeldBack" in of_slice) > 0


def scheduled(deployed: Deployed, rule: dict[str, Any], **fields: Any) -> str:
    task = {
        "target": {"type": "python", "handler": "demo.hello"},
        "payload": {"name": "{{schedule.name}}", "before": "{{previous.result}}"},
        "priority": "medium",
    }
    body = {"name": "Ada", "rule": rule, "task": task, **fields}
    status, schedule = deployed.call("POST", "/v1/schedules", body)
    assert status == 201, schedule
    return schedule["id"]


def ledger(deployed: Deployed, schedule_id: str) -> list[tuple[str, str | None]]:
    status, page = deployed.call("GET", f"/v1/schedules/{schedule_id}/ledger")
    assert status == 200
    return [(row["outcome"], row["task_status"]) for row in page["items"]]


def by_the_clock(deployed: Deployed) -> None:
    """Every hour in India, whose time zone is half an hour off."""
    deployed.now += HOUR - deployed.now % HOUR
    rule = {"type": "cron", "expression": "0 * * * *", "timezone": "Asia/Kolkata"}
    schedule_id = scheduled(deployed, rule)
    for runs in (1, 2):
        deployed.now += (HALF_PAST - SECOND - deployed.now) % HOUR
        assert sum(tick.answer["occurrences"] for tick in deployed.tick()) == 1
        deployed.now += SECOND
        assert deployed.deliver(MEDIUM) == 1
        assert ledger(deployed, schedule_id) == [("fired", "SUCCEEDED")] * runs
        deployed.now += MINUTE
    _, tasks = deployed.call("GET", f"/v1/tasks?schedule_id={schedule_id}&status=SUCCEEDED")
    assert {task["result"]["greeting"] for task in tasks["items"]} == {"Hello, Ada!"}
    assert tasks["items"][0]["scheduled_for"] > tasks["items"][1]["scheduled_for"]
    _, listed = deployed.call("GET", "/v1/schedules")
    assert [schedule["id"] for schedule in listed["items"]] == [schedule_id]
    assert deployed.call("DELETE", f"/v1/schedules/{schedule_id}") == (204, None)
    assert deployed.call("GET", f"/v1/schedules/{schedule_id}")[0] == 404
    deployed.relay()
    while deployed.deliver(MEDIUM):
        pass


def after_its_end(deployed: Deployed) -> None:
    """A second after the previous run: the relay reads its end and creates the next run."""
    schedule_id = scheduled(deployed, {"type": "delay", "delay": 1})
    for runs in (1, 2):
        deployed.now += SECOND
        assert deployed.deliver(MEDIUM) == 1
        assert ledger(deployed, schedule_id) == [("fired", "SUCCEEDED")] * runs
        deployed.relay()
    status, schedule = deployed.call("POST", f"/v1/schedules/{schedule_id}/pause", {"note": "so"})
    assert (status, schedule["status"], schedule["runs"]) == (200, "paused", 2)
    deployed.now += SECOND  # the third one, which the pause has cancelled
    while deployed.deliver(MEDIUM):
        pass


def with_its_own_documentation(deployed: Deployed) -> None:
    status, document = deployed.call("GET", "/v1/openapi.json")
    assert (status, document) == (200, json.loads(openapi.made_document()))
    page = deployed.request("GET", "/docs")
    assert (page["statusCode"], page["body"]) == (200, openapi.made_page().decode())
    assert page["headers"]["content-type"] == "text/html; charset=utf-8"


def as_the_code_declares(deployed: Deployed) -> None:
    def sync(*schedules: dict[str, Any]) -> list[str]:
        _, taken = deployed.call("POST", "/v1/schedules/sync/generations", {"app": "shop"})
        body = {"app": "shop", "generation": taken["generation"], "schedules": schedules}
        options = {"prune": True, "allow_empty": True}
        status, plan = deployed.call("POST", "/v1/schedules/sync", body | options)
        assert status == 200, plan
        return [step["action"] for step in plan["schedules"]]

    yearly = {"type": "cron", "expression": "0 0 1 1 *"}
    task = {"target": {"type": "python", "handler": "demo.hello"}}
    declared = {"name": "yearly", "rule": yearly, "task": task, "source": "shop.py:3"}
    assert [sync(declared), sync(declared), sync()] == [["create"], ["same"], ["pruned"]]


def a_step(name: str, *needs: str, handler: str = "demo.hello", **fields: Any) -> dict[str, Any]:
    target = {"type": "python", "handler": handler}
    return {"name": name, "needs": needs, "target": target, "payload": {"name": name}, **fields}


def start_run(deployed: Deployed, *steps: dict[str, Any], **fields: Any) -> str:
    status, run = deployed.call("POST", "/v1/runs", {"steps": steps, **fields})
    assert status == 201, run
    return run["id"]


def run_of(deployed: Deployed, run_id: str) -> tuple[str, dict[str, str]]:
    """Returns the status of a run and of its steps."""
    status, run = deployed.call("GET", f"/v1/runs/{run_id}")
    assert status == 200
    return run["status"], {step["name"]: step["status"] for step in run["steps"]}


def deliver_all(deployed: Deployed) -> None:
    while any(deployed.deliver(queue) for queue in (HIGH, MEDIUM, LOW)):
        pass


def around_a_diamond_and_again(deployed: Deployed) -> None:
    """Each step is in another lane than the step before it. One dies, and the run is retried."""
    flaky = {"payload": {"failures": 1}, "retry": {"max_attempts": 1}, "priority": "low"}
    joined = {"name": "{{steps.left.result.greeting}} {{steps.right.result.attempts}}"}
    run_id = start_run(
        deployed,
        a_step("first", priority="high"),
        a_step("left", "first"),
        a_step("right", "first", handler="demo.flaky", **flaky),
        a_step("join", "left", "right", payload=joined, priority="high"),
    )
    assert [deployed.deliver(queue) for queue in (HIGH, MEDIUM, LOW)] == [1, 1, 1]
    status, steps = run_of(deployed, run_id)
    assert (status, steps["right"], steps["join"]) == ("FAILED", "DEAD", "SKIPPED")
    deployed.relay()

    status, run = deployed.call("POST", f"/v1/runs/{run_id}/retry")
    assert (status, run["status"], run["attempt"]) == (200, "RUNNING", 2)
    deployed.show_kept()  # the message of the old death starts nothing
    deliver_all(deployed)
    _, run = deployed.call("GET", f"/v1/runs/{run_id}")
    assert (run["status"], run["result"]["greeting"]) == ("SUCCEEDED", "Hello, Hello, left! 2!")
    assert [step["attempt"] for step in run["steps"]] == [1, 1, 2, 1]
    deployed.relay()


def over_a_list(deployed: Deployed) -> None:
    over = {"items": "{{input}}", "max_concurrency": 2}
    each = a_step("each", map=over, payload={"name": "{{item}}"})
    run_id = start_run(deployed, each, a_step("all", "each"), input=["Ada", "Bo", "Cy"])
    deliver_all(deployed)
    assert run_of(deployed, run_id)[0] == "SUCCEEDED"
    _, items = deployed.call("GET", f"/v1/runs/{run_id}/steps/each/items")
    assert [item["status"] for item in items["items"]] == ["SUCCEEDED"] * 3
    deployed.relay()


def with_a_callback(deployed: Deployed) -> None:
    ask = a_step("ask", callback={"timeout": 600}, payload={"name": "{{callback.url}}"})
    run_id = start_run(deployed, ask, a_step("then", "ask"))
    assert deployed.deliver(MEDIUM) == 1
    assert run_of(deployed, run_id)[1] == {"ask": "WAITING", "then": "BLOCKED"}
    unknown = deployed.request("POST", f"/v1/callbacks/{'0' * 58}", {"result": 1})
    assert unknown["statusCode"] == 404
    _, run = deployed.call("GET", f"/v1/runs/{run_id}")
    task_id = run["steps"][0]["task_id"]
    status, _ = deployed.call("POST", f"/v1/tasks/{task_id}/complete", {"result": "yes"})
    assert (status, deployed.deliver(MEDIUM)) == (200, 1)
    assert run_of(deployed, run_id)[0] == "SUCCEEDED"
    deployed.relay()


def inside_another_by_a_schedule(deployed: Deployed) -> None:
    """A schedule starts a workflow that has another one inside."""
    inner = {"name": "inner", "needs": ["a"], "workflow": {"steps": [a_step("b")]}}
    body = {"steps": [a_step("a"), inner]}
    assert deployed.call("PUT", "/v1/workflows/nightly", body)[0] == 201
    task = {"target": {"type": "workflow", "workflow": "nightly"}}
    schedule_id = scheduled(deployed, {"type": "delay", "delay": 1}, task=task, max_runs=1)
    deployed.now += SECOND
    deliver_all(deployed)
    deployed.relay()
    assert ledger(deployed, schedule_id) == [("fired", "SUCCEEDED")]
    assert deployed.call("DELETE", "/v1/workflows/nightly")[0] == 204


def from_a_lost_step(deployed: Deployed) -> None:
    """The message of a step is lost, and then the run is cancelled."""
    run_id = start_run(deployed, a_step("a"), a_step("end", **{"finally": True}))
    lose_messages(deployed, MEDIUM)
    deployed.now += 5 * MINUTE
    assert sum(tick.answer["sent"] for tick in deployed.tick()) >= 1
    assert deployed.call("DELETE", f"/v1/runs/{run_id}")[0] == 202
    deliver_all(deployed)
    assert run_of(deployed, run_id) == ("CANCELLED", {"a": "CANCELLED", "end": "SUCCEEDED"})
    deployed.relay()


def until_it_is_purged(deployed: Deployed) -> None:
    task_id = submit(deployed, unique={"key": "nightly"})
    assert deployed.deliver(MEDIUM) == 1
    status, purged = deployed.call("POST", "/v1/purge", {"older_than": 0})
    assert (status, purged["next_cursor"]) == (200, None)
    assert purged["removed"] > 0
    status, _ = deployed.call("GET", f"/v1/tasks/{task_id}")
    assert status == 404
    deployed.relay()  # it frees the key


FLOWS: list[Flow] = [
    at_once,
    later,
    under_a_limit,
    in_a_child_process,
    twice,
    to_the_dead_and_back,
    back_into_another_lane,
    from_a_lost_message,
    in_order_after_lost_messages,
    to_its_cancellation,
    by_the_clock,
    after_its_end,
    with_its_own_documentation,
    as_the_code_declares,
    around_a_diamond_and_again,
    over_a_list,
    with_a_callback,
    inside_another_by_a_schedule,
    from_a_lost_step,
    until_it_is_purged,
]
CROWDED_FLOWS: list[Flow] = [
    out_of_a_crowd,  # which is due an hour later
    after_an_outage,  # the last, because its tasks stay unfinished
]


@pytest.mark.parametrize(
    "flow",
    [*FLOWS, *(pytest.param(flow, marks=pytest.mark.long) for flow in CROWDED_FLOWS)],
    ids=lambda flow: flow.__name__,
)
def test_flow_of_the_deployed_functions(deployed: Deployed, flow: Flow):
    play_until(flow, deployed)


def play_until(last: Flow, deployed: Deployed) -> None:
    """Plays the flows in their order: after a crowd, nothing goes as it does in an idle system."""
    flows = FLOWS + CROWDED_FLOWS
    for flow in flows[: flows.index(last) + 1]:
        if flow not in played:
            flow(deployed)
            played.add(flow)


# What the functions really asked of AWS, against what their roles are granted.

ACTIONS = {
    "SendMessageBatch": "SendMessage",
    "TransactWriteItems": "ConditionCheckItem",  # and the write itself, which is made alone too
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
    "Invoke": "InvokeFunction",
}
# Lambda's pollers act in the role of the function that they call.
BY_POLLERS = {
    *(f"sqs:{action}" for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")),
    *(f"dynamodb:{a}" for a in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")),
}


def used(deployed: Deployed) -> dict[str, set[tuple[str, str]]]:
    by_role: dict[str, set[tuple[str, str]]] = {}
    for logical, function in deployed.functions.items():
        made = deployed.template["Resources"][logical]["Properties"]
        name = made["Description"].rpartition(": ")[2]
        by_role[name] = {_asked(call, name) for call in function.calls}
    return by_role


def _asked(call: tuple[str, ...], function: str) -> tuple[str, str]:
    service, operation, *on = call
    action = f"{service}:{ACTIONS.get(operation, operation)}"
    match service:
        case "dynamodb":
            return action, "/index/".join(["table", *on[1:]])
        case "sqs":
            return action, queue_of(on[0].rpartition("/")[2])
    return action, function


@pytest.mark.long
def test_a_role_is_granted_what_it_uses_and_nothing_else(deployed: Deployed):
    play_until(after_an_outage, deployed)
    asked = used(deployed)
    for name, granted in GRANTED.items():
        assert asked[name] <= granted, name
    for name in ("api", "scanner", "relay", "executor-medium"):
        unused = {
            (action, resource)
            for action, resource in GRANTED[name] - asked[name]
            if not (name in ("relay", "executor-medium") and action in BY_POLLERS)
        }
        used_on_some_lane = {
            (action, lane) for action, on in asked[name] for lane in Lane if on in set(Lane)
        }
        by_lambda = {("sqs:SendMessage", f"failed {what}") for what in ("ticks", "records")}
        assert unused - used_on_some_lane - by_lambda == set(), name


@pytest.mark.long
def test_alarms_and_dashboard_look_at_what_is_published(
    deployed: Deployed, dev: dict[str, Any], prod: dict[str, Any]
):
    play_until(after_an_outage, deployed)
    published = {
        (directive["Namespace"], name, metric["Name"])
        for function in deployed.functions.values()
        for body in function.printed
        for directive in body.get("_aws", {}).get("CloudWatchMetrics", [])
        for metric in directive["Metrics"]
        for name in [_dimensions({d: body[d] for d in directive["Dimensions"][0]})]
    }
    looked_at = set(_alarmed(prod)) | set(_drawn(dev))
    assert len(looked_at) > 20
    never_zero = {"LostClaims"}  # is published when two ticks meet
    assert {m for m in looked_at if m[2] not in never_zero} <= _of_every_lane(published)


def _dimensions(named: dict[str, str]) -> str:
    return ",".join(f"{name}={named[name]}" for name in sorted(named))


def _of_every_lane(metrics: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """What one lane publishes, all do; and `prod` what `dev` does."""
    return {
        (stage, re.sub("lane=[a-z]+", f"lane={lane}", dimensions), name)
        for _, dimensions, name in metrics
        for lane in Lane
        for stage in ("Duetime/dev", "Duetime/prod")
    }


def _alarmed(template: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for resource in template["Resources"].values():
        for part in resource.get("Properties", {}).get("Metrics", []):
            metric = part.get("MetricStat", {}).get("Metric", {})
            if str(metric.get("Namespace")).startswith("Duetime"):
                named = {d["Name"]: d["Value"] for d in metric["Dimensions"]}
                yield metric["Namespace"], _dimensions(named), metric["MetricName"]


def _drawn(template: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    [body] = [
        r["Properties"]["DashboardBody"]["Fn::Join"][1]
        for r in template["Resources"].values()
        if r["Type"] == "AWS::CloudWatch::Dashboard"
    ]
    text = "".join(part if isinstance(part, str) else "…" for part in body)
    for widget in json.loads(text)["widgets"]:
        for metric in widget["properties"].get("metrics", []):
            if metric[0].startswith("Duetime"):
                named = dict(zip(metric[2:-1:2], metric[3:-1:2], strict=True))
                yield metric[0], _dimensions(named), metric[1]


@pytest.mark.long
def test_a_new_stack_goes_on_with_the_table_of_another(deploy: Deploy):
    """As after `make destroy`, which leaves the table, and after a restore from a backup."""
    before = deploy(a_stage("old"))
    task_id = submit(before, payload={"name": "Ada"}, delay=600, priority="low")
    table = before.functions_table()
    described = before.client("dynamodb").describe_table(TableName=table)["Table"]

    after = deploy(a_stage("new", table_stream_arn=described["LatestStreamArn"]))
    assert after.functions_table() == table
    after.now = before.now + 599 * SECOND
    assert sum(tick.answer["claimed"] for tick in after.tick()) == 1
    after.now += SECOND
    assert after.deliver("duetime-new-low") == 1
    assert read(after, task_id)["status"] == "SUCCEEDED"
    assert figures(after.relay())["Succeeded"] == [1]


@pytest.mark.long
def test_live_updates_of_a_deployed_stage(deploy: Deploy):
    """The bundles have what it takes. moto accepts every post and shows none, so what is posted is
    left to tests/lambdas/test_websocket.py."""
    deployed = deploy(a_stage("live", live=True))
    deployed.open_connections()
    websocket, relay = (deployed.functions[deployed.named(n)] for n in ("websocket", "relay"))
    status, answer = deployed.call("POST", "/v1/live/tickets")
    assert status == 201
    ask = recorded("websocket_authorizer")
    ask["queryStringParameters"]["ticket"] = answer["url"].rpartition("=")[2]
    effects = [
        deployed.connection(ask)["policyDocument"]["Statement"][0]["Effect"] for _ in range(2)
    ]
    assert effects == ["Allow", "Deny"]
    assert deployed.connection(recorded("websocket_connect")) == {"statusCode": 200}
    for message in (
        {"op": "hello", "version": 1},
        {"op": "subscribe", "id": "s1", "topic": "tasks"},
    ):
        frame = recorded("websocket_message") | {"body": json.dumps(message)}
        assert deployed.connection(frame) == {"statusCode": 200}
    posts = [call for call in websocket.calls if "PostToConnection" in call]
    assert posts == [("apigatewaymanagementapi", "PostToConnection")]
    logged = [line["message"] for line in websocket.printed]
    assert logged == ["connection refused: ticket"], "a post that fails is logged, too"

    submit(deployed, payload=1, delay=600)
    deployed.relay()
    assert ("lambda", "Invoke", websocket.name) in relay.calls
    assert deployed.connection(recorded("websocket_disconnect")) == {"statusCode": 200}
    used = {action for service, action, *_ in websocket.calls if service == "dynamodb"}
    assert {f"dynamodb:{action}" for action in used} == {
        action for action, on in granted_in(deployed.template)["websocket"] if on == "table"
    }


def test_the_transformed_template_lacks_only_listed_types(prod: dict[str, Any]):
    before, after = prod["Resources"], transformed(prod)["Resources"]
    gone = {before[name]["Type"] for name in before.keys() - after.keys()}
    referring = {"AWS::Lambda::Permission"}  # to the API, which is not there
    assert gone <= LEFT_OUT | referring
    assert {r["Type"] for r in after.values()} >= {
        "AWS::DynamoDB::Table",
        "AWS::SQS::Queue",
        "AWS::Lambda::Function",
        "AWS::Events::Rule",
        "AWS::IAM::Policy",
        "AWS::CloudWatch::Dashboard",
    }


def test_moto_made_what_the_template_says(deployed: Deployed):
    sqs, dynamodb = deployed.client("sqs"), deployed.client("dynamodb")
    for lane in Lane:
        url = deployed.url(f"duetime-dev-{lane}")
        attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        redrive = json.loads(attributes["RedrivePolicy"])
        assert redrive["deadLetterTargetArn"].endswith(f":duetime-dev-{lane}-dlq")
        assert attributes["VisibilityTimeout"] == "5400"
    table = deployed.functions_table()
    made = dynamodb.describe_table(TableName=table)["Table"]
    assert {index["IndexName"] for index in made["GlobalSecondaryIndexes"]} == {
        schema.WAKE_INDEX,
        schema.LISTING_INDEX,
        schema.DEAD_INDEX,
    }


def test_a_bundle_that_lacks_a_module_fails_here_too(deployed: Deployed, tmp_path: Path):
    """The functions see only their bundle and Lambda's libraries."""
    [function] = [f for f in deployed.functions.values() if "Scanner" in f.name]
    lacking = function.__class__(**{**vars(function), "bundle": tmp_path, "process": None})
    with pytest.raises(AssertionError, match="No module named 'lambdas'"):
        lacking.invoke({}, 0, 1_000)
    assert lacking.process
    lacking.process.kill()
    lacking.process.communicate()
