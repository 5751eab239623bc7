"""How calls to AWS fail: a server answers as the services do, and moto cannot."""

import json
import socket
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from duetime.core.lifecycle import Status
from duetime.core.task import Task
from tests.executor.aws_world import ACCOUNT, REGION, refuse, run, run_again, use_aws_targets
from tests.factories import result_of
from tests.sink import Answer, Sink, a_sink
from tests.world import World

ARN = f"arn:aws:{{}}:{REGION}:{ACCOUNT}:{{}}"
SQS = {"type": "sqs", "queue": ARN.format("sqs", "orders")}
FIFO = {"type": "sqs", "queue": ARN.format("sqs", "orders.fifo"), "group": "all"}
LAMBDA = {"type": "lambda", "function": ARN.format("lambda", "function:resize")}
STATES = {"type": "stepfunctions", "state_machine": ARN.format("states", "stateMachine:checkout")}
TABLE = {"type": "dynamodb", "table": ARN.format("dynamodb", "table/orders"), "action": "update"}
BUS = {"type": "eventbridge", "bus": ARN.format("events", "event-bus/default")}
EVENT = {**BUS, "source": "shop", "detail_type": "OrderPaid"}
SQL = {"type": "sql", "database": "main", "statement": "UPDATE t SET a = :a WHERE id = :task_id"}
ADD = {"key": {"id": "7"}, "add": {"count": 1}}


@pytest.fixture(scope="module")
def shared_sink() -> Iterator[Sink]:
    with a_sink() as sink:
        yield sink


@pytest.fixture
def sink(shared_sink: Sink, world: World, monkeypatch: pytest.MonkeyPatch) -> Sink:
    # Tests of other files may have left moto on, which would answer first.
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    shared_sink.asked.clear()
    use_aws_targets(world, shared_sink.url)
    return shared_sink


def error_of(task: Task) -> tuple[str, str]:
    assert task.current is not None
    assert task.current.error is not None
    return task.current.error.type, task.current.error.message


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "ThrottlingException"),
        (429, "TooManyRequestsException"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (400, "ExpiredTokenException"),
    ],
)
def test_transient_error_of_aws_is_retried_with_its_code(
    world: World, sink: Sink, status: int, code: str
):
    refuse(sink, status, code, "later")
    task = run(world, SQS, {"a": 1})

    assert task.status is Status.RETRYING
    assert error_of(task) == (code, "later")


@pytest.mark.parametrize(
    ("target", "payload", "status", "code"),
    [
        (SQS, 1, 400, "InvalidMessageContents"),
        (SQS, 1, 403, "AccessDeniedException"),
        (LAMBDA, 1, 404, "ResourceNotFoundException"),
        (LAMBDA, 1, 413, "RequestTooLargeException"),
        (STATES, {}, 400, "InvalidExecutionInput"),
        (TABLE, {"key": {"id": "7"}}, 400, "ValidationException"),
        (SQL, {"a": 1}, 403, "ForbiddenException"),
    ],
)
def test_error_that_a_retry_cannot_help_is_permanent(
    world: World, sink: Sink, target: dict[str, Any], payload: Any, status: int, code: str
):
    refuse(sink, status, code)
    task = run(world, target, payload)

    assert task.status is Status.DEAD
    assert error_of(task)[0] == code
    assert len(sink.asked) == 1


def test_sdk_repeats_a_failed_call_at_most_once(world: World, sink: Sink):
    refuse(sink, 503, "ServiceUnavailable")
    run(world, SQS, 1)

    assert len(sink.asked) == 2


def test_every_attempt_sends_the_same_deduplication_id(world: World, sink: Sink):
    refuse(sink, 400, "RequestTimeout")
    task = run_again(world, run(world, FIFO, 1))

    assert task.attempt == 2
    assert {asked.json["MessageDeduplicationId"] for asked in sink.asked} == {task.id}
    attempts = [a.json["MessageAttributes"]["duetime-attempt"]["StringValue"] for a in sink.asked]
    assert set(attempts) == {"1", "2"}


def test_every_attempt_of_an_adding_update_has_the_same_token(world: World, sink: Sink):
    refuse(sink, 500, "InternalServerError")
    task = run_again(world, run(world, TABLE, ADD))

    assert {asked.json["ClientRequestToken"] for asked in sink.asked} == {task.id}
    assert {asked.headers["X-Amz-Target"] for asked in sink.asked} == {
        "DynamoDB_20120810.TransactWriteItems"
    }


@pytest.mark.parametrize(
    ("reason", "status"),
    [("TransactionConflict", Status.RETRYING), ("ValidationError", Status.DEAD)],
)
def test_cancelled_transaction_is_retried_after_a_conflict_alone(
    world: World, sink: Sink, reason: str, status: Status
):
    body = {"__type": "TransactionCanceledException", "message": "cancelled"}
    body["CancellationReasons"] = [{"Code": reason}]  # type: ignore[assignment]
    sink.answer = Answer(status=400, body=json.dumps(body).encode())

    assert run(world, TABLE, ADD).status is status


def test_lambda_function_that_raises_is_retried_with_its_error(world: World, sink: Sink):
    body = json.dumps({"errorType": "KeyError", "errorMessage": "'id'"}).encode()
    sink.answer = Answer(body=body, headers={"X-Amz-Function-Error": "Unhandled"})
    task = run(world, LAMBDA, 1)

    assert task.status is Status.RETRYING
    assert error_of(task) == ("KeyError", "'id'")


def test_lambda_sync_names_the_task_in_the_client_context_and_is_called_once(
    world: World, sink: Sink
):
    refuse(sink, 500, "ServiceException")
    task = run(world, LAMBDA, 1)

    [asked] = sink.asked
    context = json.loads(b64decode(asked.headers["X-Amz-Client-Context"]))
    assert context == {"custom": {"duetime": {"task_id": task.id, "attempt": 1}}}
    assert task.status is Status.RETRYING


@pytest.mark.parametrize(
    ("code", "status"),
    [("InternalFailure", Status.RETRYING), ("MalformedDetail", Status.DEAD)],
)
def test_eventbridge_entry_that_failed_fails_the_attempt(
    world: World, sink: Sink, code: str, status: Status
):
    entry = {"ErrorCode": code, "ErrorMessage": "no"}
    body = {"FailedEntryCount": 1, "Entries": [entry]}
    sink.answer = Answer(body=json.dumps(body).encode())
    task = run(world, EVENT, {})

    assert (task.status, error_of(task)) == (status, (code, "no"))


@pytest.mark.parametrize(("state", "status"), [("40001", Status.RETRYING), ("23505", Status.DEAD)])
def test_sql_conflict_of_transactions_is_retried(
    world: World, sink: Sink, state: str, status: Status
):
    refuse(sink, 400, "DatabaseErrorException", f"ERROR: no; SQLState: {state}")

    assert run(world, SQL, {"a": 1}).status is status


def test_sql_statement_gets_typed_parameters_and_the_configured_database(world: World, sink: Sink):
    sink.answer = Answer(body=json.dumps({"numberOfRecordsUpdated": 1}).encode())
    statement = "INSERT INTO t VALUES (:task_id, :attempt, :a, :b, :c, :d, :e)"
    payload = {"a": None, "b": True, "c": 1.5, "d": "x", "e": {"k": [1]}, "unused": 1}
    task = run(world, {**SQL, "statement": statement}, payload)

    [asked] = sink.asked
    assert asked.json["database"] == "shop"
    assert asked.json["sql"] == statement
    assert {p["name"]: p["value"] for p in asked.json["parameters"]} == {
        "task_id": {"stringValue": task.id},
        "attempt": {"longValue": 1},
        "a": {"isNull": True},
        "b": {"booleanValue": True},
        "c": {"doubleValue": 1.5},
        "d": {"stringValue": "x"},
        "e": {"stringValue": '{"k":[1]}'},
    }
    assert result_of(task) == {"rows_changed": 1}


def test_aws_that_cannot_be_reached_is_tried_again(world: World, sink: Sink):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        use_aws_targets(world, f"http://127.0.0.1:{unused.getsockname()[1]}")
        task = run(world, LAMBDA, 1)

    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "ConnectionFailed")


def test_aws_without_credentials_is_a_permanent_failure(
    world: World, sink: Sink, monkeypatch: pytest.MonkeyPatch
):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    task = run(world, SQS, 1)

    assert (task.status, error_of(task)[0]) == (Status.DEAD, "NoCredentialsError")


def test_call_to_aws_ends_within_the_timeout_of_the_task(world: World, sink: Sink):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use_aws_targets(world, f"http://127.0.0.1:{silent.getsockname()[1]}")
        task = run(world, LAMBDA, 1, timeout=1)

    assert (task.status, error_of(task)[0]) == (Status.RETRYING, "TimedOut")


@pytest.mark.parametrize(
    ("target", "payload", "reason"),
    [
        (EVENT, "x", "payload: must be an object, the detail of the event"),
        (TABLE, 1, "payload: must be an object"),
        (TABLE, {"key": {}}, "payload: key must be an object with at least one attribute"),
        (SQS, "", "payload: must not be empty: the service takes no empty message"),
        (SQL, [], "payload: must be an object, with a value for each parameter"),
        (SQL, {}, "payload: a is required: the statement names it"),
    ],
)
def test_payload_that_a_template_made_unfit_fails_for_good_and_calls_nothing(
    world: World, sink: Sink, target: dict[str, Any], payload: Any, reason: str
):
    task = run(world, target, payload)

    assert task.status is Status.DEAD
    assert error_of(task) == ("BadPayload", reason)
    assert sink.asked == []
