"""The targets that call AWS, on moto."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from moto.awslambda_simple.models import lambda_simple_backends
from moto.rdsdata.models import QueryResults, rdsdata_backends
from moto.sesv2.models import sesv2_backends

from duetime.core.lifecycle import Status
from duetime.core.task import Task
from tests.executor.aws_world import ACCOUNT, REGION, client, run, simulated_aws, use_aws_targets
from tests.factories import result_of
from tests.world import World

PAYLOAD = {"order": 7, "to": "Zoë"}


@pytest.fixture(autouse=True)
def aws(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with simulated_aws():
        use_aws_targets(world)
        yield


def a_queue(name: str, **attributes: str) -> tuple[str, str]:
    url = client("sqs").create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return url, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


def received(url: str) -> list[dict[str, Any]]:
    answer = client("sqs").receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        MessageAttributeNames=["All"],
        AttributeNames=["All"],
    )
    return answer.get("Messages", [])


def attributes_of(message: dict[str, Any]) -> dict[str, str]:
    return {name: found["StringValue"] for name, found in message["MessageAttributes"].items()}


def failed_with(task: Task) -> str | None:
    assert task.current is not None
    return task.current.error.type if task.current.error else None


def test_sqs_sends_the_payload_as_json_with_the_task_in_attributes(world: World):
    url, arn = a_queue("orders")
    task = run(world, {"type": "sqs", "queue": arn, "attributes": {"team": "growth"}}, PAYLOAD)

    [message] = received(url)
    assert json.loads(message["Body"]) == PAYLOAD
    assert attributes_of(message) == {
        "team": "growth",
        "duetime-task-id": task.id,
        "duetime-attempt": "1",
    }
    assert result_of(task) == {"message_id": message["MessageId"]}


def test_sqs_sends_a_string_as_it_is(world: World):
    url, arn = a_queue("orders")
    run(world, {"type": "sqs", "queue": arn}, "plain text")

    assert [message["Body"] for message in received(url)] == ["plain text"]


def test_sqs_fifo_queue_drops_a_second_attempt_of_the_same_task(world: World):
    url, arn = a_queue("orders.fifo", FifoQueue="true")
    task = run(world, {"type": "sqs", "queue": arn, "group": "customer-7"}, PAYLOAD)
    # Another attempt of the same task, as after a lost answer.
    client("sqs").send_message(
        QueueUrl=url,
        MessageBody="again",
        MessageGroupId="customer-7",
        MessageDeduplicationId=task.id,
    )

    [message] = received(url)
    assert message["Attributes"]["MessageGroupId"] == "customer-7"
    assert message["Attributes"]["MessageDeduplicationId"] == task.id


def test_sqs_queue_that_does_not_exist_is_a_permanent_failure(world: World):
    arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:missing"
    task = run(world, {"type": "sqs", "queue": arn}, PAYLOAD)

    assert task.status is Status.DEAD
    assert failed_with(task) in ("NonExistentQueue", "QueueDoesNotExist")


def test_sns_publishes_to_the_topic(world: World):
    url, queue = a_queue("inbox")
    topic = client("sns").create_topic(Name="alerts")["TopicArn"]
    client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=queue)
    task = run(world, {"type": "sns", "topic": topic, "subject": "Order 7"}, PAYLOAD)

    [message] = received(url)
    body = json.loads(message["Body"])
    assert (body["Subject"], json.loads(body["Message"])) == ("Order 7", PAYLOAD)
    assert body["MessageAttributes"]["duetime-task-id"]["Value"] == task.id
    assert result_of(task) == {"message_id": body["MessageId"]}


def test_sns_fifo_topic_gets_the_task_id_as_deduplication_id(world: World):
    topic = client("sns").create_topic(Name="alerts.fifo", Attributes={"FifoTopic": "true"})
    arn = topic["TopicArn"]
    url, queue = a_queue("inbox.fifo", FifoQueue="true")
    client("sns").subscribe(TopicArn=arn, Protocol="sqs", Endpoint=queue)
    task = run(world, {"type": "sns", "topic": arn, "group": "all"}, PAYLOAD)

    assert task.status is Status.SUCCEEDED
    [message] = received(url)
    assert message["Attributes"]["MessageDeduplicationId"] == task.id


def test_sns_topic_that_does_not_exist_is_a_permanent_failure(world: World):
    arn = f"arn:aws:sns:{REGION}:{ACCOUNT}:missing"
    task = run(world, {"type": "sns", "topic": arn}, PAYLOAD)

    assert (task.status, failed_with(task)) == (Status.DEAD, "NotFound")


def test_eventbridge_puts_an_event_that_a_rule_matches(world: World):
    url, queue = a_queue("inbox")
    events = client("events")
    events.put_rule(Name="orders", EventPattern=json.dumps({"source": ["shop"]}))
    events.put_targets(Rule="orders", Targets=[{"Id": "1", "Arn": queue}])
    bus = f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/default"
    target = {"type": "eventbridge", "bus": bus, "source": "shop", "detail_type": "OrderPaid"}
    task = run(world, target, PAYLOAD)

    [message] = received(url)
    event = json.loads(message["Body"])
    assert (event["detail-type"], event["detail"]) == ("OrderPaid", PAYLOAD)
    assert event["resources"] == [f"duetime:task/{task.id}"]
    assert result_of(task)["event_id"] == event["id"]


def a_function(name: str) -> str:
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    role = client("iam").create_role(RoleName="role", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as package:
        package.writestr("app.py", "def handle(event, context): return event")
    made = client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="app.handle",
        Code={"ZipFile": code.getvalue()},
    )
    return made["FunctionArn"]


def test_lambda_sync_returns_the_answer_of_the_function(world: World):
    arn = a_function("resize")
    task = run(world, {"type": "lambda", "function": arn}, PAYLOAD)

    assert result_of(task) == {"status": 200, "body": PAYLOAD}


def test_lambda_envelope_puts_the_task_around_the_payload(world: World):
    arn = a_function("resize")
    task = run(world, {"type": "lambda", "function": arn, "envelope": True}, PAYLOAD)

    body = result_of(task)["body"]
    assert body == {"task_id": task.id, "attempt": 1, "payload": PAYLOAD}


def test_lambda_async_hands_the_event_over(world: World):
    arn = a_function("resize")
    task = run(world, {"type": "lambda", "function": arn, "invocation": "async"}, PAYLOAD)

    assert result_of(task) == {"status": 202}


def test_lambda_answer_over_the_limit_is_cut_and_does_not_fail_the_task(world: World):
    arn = a_function("resize")
    queue = lambda_simple_backends[ACCOUNT][REGION].lambda_simple_results_queue
    queue.append(json.dumps("x" * 70_000))
    task = run(world, {"type": "lambda", "function": arn}, PAYLOAD)

    assert task.status is Status.SUCCEEDED
    assert len(result_of(task)["body"]) == 10_000


def a_state_machine() -> str:
    definition = {"StartAt": "Done", "States": {"Done": {"Type": "Pass", "End": True}}}
    made = client("stepfunctions").create_state_machine(
        name="checkout",
        definition=json.dumps(definition),
        roleArn=f"arn:aws:iam::{ACCOUNT}:role/states",
    )
    return made["stateMachineArn"]


def test_stepfunctions_starts_an_execution_named_after_the_task(world: World):
    task = run(world, {"type": "stepfunctions", "state_machine": a_state_machine()}, PAYLOAD)

    execution = result_of(task)["execution"]
    assert execution.endswith(f":execution:checkout:{task.id}")
    found = client("stepfunctions").describe_execution(executionArn=execution)
    assert json.loads(found["input"]) == PAYLOAD


def test_stepfunctions_execution_of_an_earlier_attempt_counts_as_started(world: World):
    machine = a_state_machine()
    task_id = world.submit(target={"type": "stepfunctions", "state_machine": machine}, payload={})
    started = client("stepfunctions").start_execution(
        stateMachineArn=machine, name=task_id, input='{"other": 1}'
    )
    world.deliver()

    assert result_of(world.task(task_id)) == {"execution": started["executionArn"]}


def test_stepfunctions_machine_that_does_not_exist_is_a_permanent_failure(world: World):
    arn = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:missing"
    task = run(world, {"type": "stepfunctions", "state_machine": arn}, PAYLOAD)

    assert (task.status, failed_with(task)) == (Status.DEAD, "StateMachineDoesNotExist")


@pytest.fixture
def table() -> str:
    made = client("dynamodb").create_table(
        TableName="orders",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return made["TableDescription"]["TableArn"]


def item(key: str = "7") -> dict[str, Any] | None:
    return client("dynamodb").get_item(TableName="orders", Key={"id": {"S": key}}).get("Item")


def write(world: World, table: str, action: str, payload: Any, **target: Any) -> Task:
    return run(world, {"type": "dynamodb", "table": table, "action": action, **target}, payload)


def test_dynamodb_puts_an_item_of_any_json(world: World, table: str):
    given = {"id": "7", "paid": True, "sum": 9.5, "n": 3, "note": None, "tags": ["a", {"b": 1}]}
    task = write(world, table, "put", {"item": given})

    assert result_of(task) == {"written": True}
    assert item() == {
        "id": {"S": "7"},
        "paid": {"BOOL": True},
        "sum": {"N": "9.5"},
        "n": {"N": "3"},
        "note": {"NULL": True},
        "tags": {"L": [{"S": "a"}, {"M": {"b": {"N": "1"}}}]},
    }


def test_dynamodb_put_if_absent_keeps_an_item_that_is_there(world: World, table: str):
    first = write(world, table, "put", {"item": {"id": "7", "by": "first"}}, if_absent="id")
    second = write(world, table, "put", {"item": {"id": "7", "by": "second"}}, if_absent="id")

    assert (result_of(first), result_of(second)) == ({"written": True}, {"written": False})
    assert item() == {"id": {"S": "7"}, "by": {"S": "first"}}


def test_dynamodb_updates_and_deletes(world: World, table: str):
    write(world, table, "put", {"item": {"id": "7", "count": 1, "old": 1}})
    change = {"key": {"id": "7"}, "set": {"status": "paid"}, "add": {"count": 2}, "remove": ["old"]}
    assert result_of(write(world, table, "update", change)) == {"written": True}
    assert item() == {"id": {"S": "7"}, "count": {"N": "3"}, "status": {"S": "paid"}}

    write(world, table, "update", {"key": {"id": "7"}, "set": {"status": "sent"}})
    assert (item() or {})["status"] == {"S": "sent"}

    write(world, table, "delete", {"key": {"id": "7"}})
    assert item() is None


def test_dynamodb_table_that_does_not_exist_is_a_permanent_failure(world: World):
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/missing"
    task = write(world, arn, "put", {"item": {"id": "7"}})

    assert (task.status, failed_with(task)) == (Status.DEAD, "ResourceNotFoundException")


EMAIL = {
    "type": "email",
    "from": "Shop <orders@example.com>",
    "to": ["ann@example.net"],
    "bcc": ["audit@example.com"],
}
CONTENT = {"subject": "Your order — 7", "text": "Thank you", "html": "<p>Thank you</p>"}


def test_email_goes_through_ses_with_the_task_in_a_header(world: World):
    client("sesv2").create_email_identity(EmailIdentity="example.com")
    task = run(world, EMAIL, CONTENT)

    [sent] = sesv2_backends[ACCOUNT][REGION].core_backend.sent_messages
    assert result_of(task) == {"message_id": sent.id}
    assert f"Duetime-Task-Id: {task.id}" in sent.raw_data
    assert "audit@example.com" not in sent.raw_data
    assert set(sent.destinations) == {"ann@example.net", "audit@example.com"}


def test_email_from_an_unverified_address_is_a_permanent_failure(world: World):
    task = run(world, EMAIL, CONTENT)

    assert (task.status, failed_with(task)) == (Status.DEAD, "MessageRejected")


def test_sql_goes_through_the_data_api(world: World):
    results = QueryResults(
        records=[[{"longValue": 7}, {"isNull": True}], [{"longValue": 8}, {"stringValue": "b"}]],
        column_metadata=[{"name": "id"}, {"name": "note", "label": "remark"}],
    )
    rdsdata_backends[ACCOUNT][REGION].results_queue.append(results)
    target = {"type": "sql", "database": "main", "statement": "SELECT id, note FROM t WHERE a = :a"}
    task = run(world, target, {"a": 1})

    rows = [{"id": 7, "remark": None}, {"id": 8, "remark": "b"}]
    assert result_of(task) == {"rows": rows}


def test_sql_counts_the_rows_that_a_statement_changed(world: World):
    rdsdata_backends[ACCOUNT][REGION].results_queue.append(
        QueryResults(number_of_records_updated=3)
    )
    target = {"type": "sql", "database": "main", "statement": "UPDATE t SET a = 1"}

    assert result_of(run(world, target)) == {"rows_changed": 3}


def test_target_type_that_the_executor_lacks_fails_for_good(world: World):
    task = run(world, {"type": "carrier-pigeon"})

    assert (task.status, failed_with(task)) == (Status.DEAD, "TargetNotAllowed")
