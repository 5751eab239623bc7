import json
import sys

from duetime.core.lanes import Lane
from duetime.core.times import SECOND
from duetime.executor.executor import Executor
from duetime.handlers import registry
from tests.factories import a_handler
from tests.lambdas.conftest import Deployment, recorded
from tests.sink import a_sink


def submitted(deployment: Deployment, **fields) -> str:
    event = recorded("http_api_post")
    body = json.loads(event["body"]) | {"delay": 0} | fields
    status, task = deployment.ask(event | {"body": json.dumps(body)})
    assert status == 201, task
    return task["id"]


def test_executor_keeps_only_the_unreadable_messages_of_a_batch(deployment: Deployment):
    ids = {submitted(deployment, payload=n) for n in range(3)}
    records = deployment.sqs_records()
    unreadable = [
        recorded("sqs_record"),
        recorded("sqs_record") | {"messageId": "none of ours", "body": '{"task_id": 7}'},
    ]

    kept = deployment.execute([unreadable[0], *records, unreadable[1]])

    assert kept == [unreadable[0]["messageId"], "none of ours"]
    assert {deployment.read(task_id)["status"] for task_id in ids} == {"SUCCEEDED"}


def test_one_bad_result_fails_no_batch(deployment: Deployment, monkeypatch):
    shared = {"rows": 3}

    def shares(payload, ctx):
        return shared if payload == "shares" else payload

    run_target = Executor.run_target

    def run_and_change(self, run):
        end = run_target(self, run)
        shared["later"] = object()  # as a thread that the handler left running may do
        return end

    monkeypatch.setattr(registry, "_handlers", {"handlers.echo": a_handler(shares)})
    monkeypatch.setattr(Executor, "run_target", run_and_change)
    ids = [submitted(deployment, payload=payload) for payload in ("shares", 1, 2)]

    assert deployment.execute(deployment.sqs_records()) == []
    assert [deployment.read(task_id)["result"] for task_id in ids] == [{"rows": 3}, 1, 2]


def test_executor_keeps_a_batch_without_readable_messages(deployment: Deployment):
    assert deployment.execute([recorded("sqs_record")]) == [recorded("sqs_record")["messageId"]]


def test_executor_keeps_a_message_that_is_too_early(deployment: Deployment):
    task_id = submitted(deployment, delay=0)
    [record] = deployment.sqs_records()
    deployment.clock.advance(-3 * SECOND)

    assert deployment.execute([record]) == [record["messageId"]]
    assert deployment.read(task_id)["status"] == "ENQUEUED"


def test_a_failure_is_sent_again_and_its_message_is_not_kept(deployment: Deployment):
    task_id = submitted(deployment, payload="break", retry={"base_delay": 0, "jitter": 0})
    [first] = deployment.sqs_records()

    assert deployment.execute([first]) == []
    assert deployment.read(task_id)["status"] == "RETRYING"
    [second] = deployment.sqs_records()
    assert json.loads(second["body"])["attempt"] == 2
    assert deployment.execute([first]) == [], "its token is spent"
    assert deployment.read(task_id)["attempt"] == 1


def test_each_lane_has_its_queue(deployment: Deployment):
    task_id = submitted(deployment, priority="high")
    assert deployment.sqs_records(Lane.MEDIUM) == []
    records = deployment.sqs_records(Lane.HIGH)

    assert deployment.execute(records) == []
    assert deployment.read(task_id)["status"] == "SUCCEEDED"


def test_a_message_in_another_lanes_queue_is_hidden_there(deployment: Deployment):
    task_id = submitted(deployment, priority="low")
    deployment.move(Lane.LOW, Lane.HIGH)
    records = deployment.sqs_records(Lane.HIGH)
    deployment.clock.advance(-3 * SECOND)

    assert deployment.execute(records) == [records[0]["messageId"]], "it is early"

    deployment.clock.advance(3 * SECOND)
    again = deployment.sqs_records(Lane.HIGH)
    assert [record["messageId"] for record in again] == [records[0]["messageId"]]
    assert deployment.execute(again) == []
    assert deployment.read(task_id)["status"] == "SUCCEEDED"


def test_a_retry_of_another_lane_is_sent_to_its_lane(deployment: Deployment):
    retry = {"base_delay": 0, "jitter": 0}
    task_id = submitted(deployment, priority="low", payload="break", retry=retry)
    deployment.move(Lane.LOW, Lane.HIGH)

    assert deployment.execute(deployment.sqs_records(Lane.HIGH)) == []

    assert deployment.read(task_id)["status"] == "RETRYING"
    [record] = deployment.sqs_records(Lane.LOW)
    assert json.loads(record["body"])["attempt"] == 2


def test_deployed_handler_submits_children_to_any_lane(deployment: Deployment, monkeypatch):
    child = a_handler(lambda n: n, "child")

    def parent(payload, ctx):
        for lane in Lane:
            ctx.submit(child.options(priority=lane.value), n=1)
        if ctx.attempt == 1:
            raise ConnectionError("after them")

    monkeypatch.setattr(registry, "_handlers", {"handlers.echo": a_handler(parent), "child": child})
    task_id = submitted(deployment, retry={"base_delay": 0, "jitter": 0})
    assert deployment.execute(deployment.sqs_records()) == []
    records = {lane: deployment.sqs_records(lane) for lane in Lane}

    assert [len(records[lane]) for lane in (Lane.HIGH, Lane.MEDIUM, Lane.LOW)] == [1, 2, 1]
    for found in records.values():
        assert deployment.execute(found) == []
    assert [deployment.sqs_records(lane) for lane in Lane] == [[], [], []]
    assert deployment.read(task_id)["status"] == "SUCCEEDED"
    ids = {json.loads(r["body"])["task_id"] for found in records.values() for r in found}
    children = [deployment.read(each) for each in ids - {task_id}]
    assert [(c["status"], c["parent_id"]) for c in children] == [("SUCCEEDED", task_id)] * 3


def test_quotas_of_the_stage_hold_for_the_children_of_a_deployed_handler(
    deployment: Deployment, monkeypatch
):
    monkeypatch.setenv("DUETIME_QUOTAS", '{"default": {"submissions_per_second": 1, "burst": 2}}')
    child = a_handler(lambda n: n, "child")

    def parent(payload, ctx):
        return [ctx.submit(child, n=n).id for n in range(3)]

    monkeypatch.setattr(registry, "_handlers", {"handlers.echo": a_handler(parent), "child": child})
    task_id = submitted(deployment, retry={"max_attempts": 1})
    deployment.execute(deployment.sqs_records())

    error = deployment.read(task_id)["error"]
    assert error["type"] == "Throttled"
    assert "submissions_per_second 1" in error["message"]


def test_a_deployed_executor_calls_no_private_address(deployment: Deployment):
    with a_sink() as sink:
        task_id = submitted(deployment, target={"type": "http", "url": sink.url})
        deployment.execute(deployment.sqs_records())

    assert sink.asked == []
    assert deployment.read(task_id)["status"] == "DEAD"
    assert deployment.read(task_id)["error"]["type"] == "AddressRefused"


def test_a_deployed_executor_calls_the_private_hosts_that_its_stage_names(
    deployment: Deployment, monkeypatch
):
    monkeypatch.setenv("DUETIME_ALLOW_HOSTS", "db.internal,127.0.0.1")
    with a_sink() as sink:
        task_id = submitted(deployment, target={"type": "http", "url": sink.url})
        deployment.execute(deployment.sqs_records())

    assert deployment.read(task_id)["status"] == "SUCCEEDED"
    assert len(sink.asked) == 1


def test_handlers_are_loaded_from_where_the_settings_say(
    deployment: Deployment, monkeypatch, tmp_path
):
    name = "handlers_of_a_deployment"
    (tmp_path / f"{name}.py").write_text(
        'from duetime import task\n\n@task("deployed.shout")\ndef shout(payload, ctx):\n'
        "    return payload.upper()\n"
    )
    monkeypatch.setenv("DUETIME_HANDLERS", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    target = {"type": "python", "handler": "deployed.shout"}
    task_id = submitted(deployment, target=target, payload="hey")
    del sys.modules[name]
    registry._handlers.clear()  # the executor is another function
    deployment.execute(deployment.sqs_records())

    assert deployment.read(task_id)["result"] == "HEY"


def test_executor_keeps_a_message_that_could_not_end_in_time(deployment: Deployment):
    task_id = submitted(deployment, timeout=30)
    [record] = deployment.sqs_records()

    assert deployment.execute([record], remaining=39_000) == [record["messageId"]]
    assert deployment.read(task_id)["status"] == "ENQUEUED"
    assert deployment.execute([record], remaining=41_000) == []
    assert deployment.read(task_id)["status"] == "SUCCEEDED"
