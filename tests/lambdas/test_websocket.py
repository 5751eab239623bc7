"""Live updates through the functions: a ticket of the API, a connection, a change of a task."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from duetime.aws import backend, clients, schema
from duetime.aws.task_items import encode_task
from duetime.core.errors import Unavailable
from duetime.core.live.connections import Connection
from duetime.core.live.limits import CONNECTIONS, LIFETIME, TICKET_LIFE
from duetime.core.steps.record import succeed
from duetime.core.task import Progress
from duetime.core.times import MINUTE, SECOND
from lambdas import websocket
from tests.factories import NOW, a_running_task
from tests.lambdas.conftest import Deployment, LambdaContext, recorded
from tests.live_posts import FakePosts

URL = "wss://f6g7h8i9j0.execute-api.eu-central-1.amazonaws.com/live"
SITE = "https://ops.example.com"
ID = recorded("websocket_connect")["requestContext"]["connectionId"]


class Live:
    """API Gateway with its connections, and Lambda with the pushes that the relay invokes."""

    def __init__(self, deployment: Deployment) -> None:
        self.deployment = deployment
        self.posts = FakePosts()
        self.invoked: list[tuple[str, Any]] = []

    def ticket(self) -> str:
        event = recorded("http_api_post") | {"rawPath": "/v1/live/tickets", "body": ""}
        status, answer = self.deployment.ask(event)
        assert (status, answer["url"].partition("?")[0]) == (201, URL)
        return answer["url"].partition("?ticket=")[2]

    def authorize(self, ticket: str, **headers: str) -> Any:
        event = recorded("websocket_authorizer")
        event["queryStringParameters"] = {"ticket": ticket}
        event["headers"] |= headers
        return websocket.handle(event, LambdaContext())

    def connect(self, id: str = ID, **context: Any) -> int:
        event = self._of("websocket_connect", id)
        event["requestContext"]["authorizer"] |= context
        status: int = websocket.handle(event, LambdaContext())["statusCode"]
        if status == 200:
            self.posts.connect(id)
        return status

    def open(self, id: str = ID) -> None:
        allowed = self.authorize(self.ticket())
        assert effect_of(allowed) == "Allow"
        assert self.connect(id, **allowed["context"]) == 200

    def send(self, message: Any, id: str = ID) -> list[Any]:
        """Returns the frames that arrived since the last call of this kind."""
        event = self._of("websocket_message", id) | {"body": json.dumps(message)}
        assert websocket.handle(event, LambdaContext()) == {"statusCode": 200}
        return self.received(id)

    def disconnect(self, id: str = ID) -> None:
        self.posts.close(id)
        event = self._of("websocket_disconnect", id)
        assert websocket.handle(event, LambdaContext()) == {"statusCode": 200}

    def received(self, id: str = ID) -> list[Any]:
        frames = [json.loads(frame) for frame in self.posts.frames(id)]
        self.posts.sent[id].clear()
        return frames

    def subscribe(self, **fields: Any) -> None:
        self.send({"op": "hello", "version": 1})
        message = {"op": "subscribe", "id": "s1", "topic": "tasks", **fields}
        assert self.send(message) == [{"type": "subscribed", "id": "s1"}]

    def push(self) -> None:
        """Lambda: invokes the function with what the relay has queued."""
        while self.invoked:
            function, event = self.invoked.pop(0)
            assert function == "the-websocket-function"
            assert websocket.handle(json.loads(json.dumps(event)), LambdaContext(29_000)) == {}

    def _of(self, name: str, id: str) -> Any:
        event = recorded(name)
        event["requestContext"]["connectionId"] = id
        return event


@pytest.fixture
def live(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Live:
    live = Live(deployment)
    monkeypatch.setenv("DUETIME_LIVE_URL", URL)
    monkeypatch.setenv("DUETIME_LIVE_ORIGINS", f"https://a.example.com,{SITE}")
    monkeypatch.setenv("DUETIME_LIVE_FUNCTION", "the-websocket-function")
    monkeypatch.setattr(backend, "connection_posts", lambda: live.posts)
    monkeypatch.setattr(backend, "functions", lambda: None)
    monkeypatch.setattr(
        backend, "invoke_later", lambda name, event, _: live.invoked.append((name, event))
    )
    monkeypatch.setattr(
        "time.sleep", lambda seconds: deployment.clock.advance(round(seconds * SECOND))
    )
    return live


def effect_of(policy: Any) -> str:
    [statement] = policy["policyDocument"]["Statement"]
    assert statement["Action"] == "execute-api:Invoke"
    assert statement["Resource"] == recorded("websocket_authorizer")["methodArn"]
    effect: str = statement["Effect"]
    return effect


def relay_new(deployment: Deployment, seen: set[str]) -> list[str]:
    """Relays the records that were not relayed before, as the event source would: tasks only."""
    records = [
        record
        for record in deployment.stream_records()
        if record["dynamodb"]["SequenceNumber"] not in seen
        and record["dynamodb"]["Keys"][schema.SK]["S"] == schema.TASK
    ]
    seen |= {record["dynamodb"]["SequenceNumber"] for record in records}
    return deployment.relay(records)


def test_change_of_a_task_reaches_the_browser(live: Live):
    deployment, seen = live.deployment, set[str]()
    live.open()
    assert [frame["type"] for frame in live.send({"op": "hello", "version": 1})] == ["hello"]
    message = {"op": "subscribe", "id": "s1", "topic": "tasks", "filter": {"namespace": "default"}}
    assert live.send(message) == [{"type": "subscribed", "id": "s1"}]

    _, task = deployment.ask(recorded("http_api_post"))
    assert relay_new(deployment, seen) == []
    assert live.received() == [], "the relay itself posts nothing"
    live.push()
    [frame] = live.received()
    assert [(item["task_id"], item["status"]) for item in frame["items"]] == [
        (task["id"], "PENDING")
    ]

    deployment.clock.advance(5 * MINUTE)
    deployment.scan(recorded("eventbridge_scheduled"))
    deployment.execute(deployment.sqs_records())
    relay_new(deployment, seen)
    live.push()
    [frame] = live.received()
    [item] = frame["items"]
    done = deployment.read(task["id"])
    assert (item["before"], item["status"]) == ("RUNNING", "SUCCEEDED")
    assert (item["updated_at"], item["due_at"]) == (done["updated_at"], done["run_at"])
    assert "payload" not in json.dumps(frame)

    live.disconnect()
    deployment.clock.advance(10 * SECOND)
    deployment.ask(recorded("http_api_post"))
    relay_new(deployment, seen)
    assert live.invoked == []


def test_used_or_invented_ticket_is_denied(live: Live):
    ticket = live.ticket()
    assert effect_of(live.authorize(ticket)) == "Allow"
    assert effect_of(live.authorize(ticket)) == "Deny"
    assert effect_of(live.authorize("0" * 32)) == "Deny"


def test_old_ticket_is_denied(live: Live):
    ticket = live.ticket()
    live.deployment.clock.advance(TICKET_LIFE)
    assert effect_of(live.authorize(ticket)) == "Deny"


@pytest.mark.parametrize(
    ("origin", "effect"), [(SITE, "Allow"), ("https://evil.example.com", "Deny"), ("null", "Deny")]
)
@pytest.mark.parametrize("header", ["Origin", "origin"])
def test_origin_is_checked(live: Live, header: str, origin: str, effect: str):
    assert effect_of(live.authorize(live.ticket(), **{header: origin})) == effect


def test_caller_of_a_ticket_is_the_owner_of_the_connection(live: Live):
    assert live.connect(actor="ada", namespaces='["a","shop"]') == 200
    now = live.deployment.clock.now()
    assert backend.live_store().connection(ID, now) == Connection(
        id=ID, closes_at=now + LIFETIME, actor="ada", namespaces=frozenset({"a", "shop"})
    )


def test_connection_201_is_refused_with_429(live: Live):
    closes_at = live.deployment.clock.now() + LIFETIME
    for number in range(CONNECTIONS):
        backend.live_store().open(Connection(id=f"c{number}", closes_at=closes_at))
    assert live.connect() == 429


def test_frame_that_names_a_route_is_a_frame(live: Live):
    """API Gateway selects the route by a field of the message, which a client chooses."""
    live.open()
    live.send({"op": "hello", "version": 1})
    event = recorded("websocket_message") | {"body": '{"op":"$disconnect"}'}
    event["requestContext"]["routeKey"] = "$disconnect"
    websocket.handle(event, LambdaContext())
    [refused] = live.received()
    assert refused["problem"]["errors"][0]["field"] == "op"
    assert backend.live_store().connection(ID, live.deployment.clock.now())


def test_reset_follows_when_too_many_changes_happen_at_once(live: Live):
    live.open()
    live.subscribe()
    seen = set[str]()
    for _ in range(2):
        live.deployment.ask(recorded("http_api_post"))
        relay_new(live.deployment, seen)
        live.push()
    assert [frame["type"] for frame in live.received()] == ["changes", "reset"]


def test_rows_of_live_updates_are_not_read_as_tasks(live: Live):
    live.open()
    live.subscribe()
    live.disconnect()
    records = live.deployment.stream_records()
    written = {record["dynamodb"]["Keys"][schema.PK]["S"].partition("#")[0] for record in records}
    assert {"config", "live", "ticket"} <= written
    assert live.deployment.relay(records) == []
    assert live.invoked == []


def test_progress_of_a_task_reaches_its_follower(live: Live):
    task = a_running_task()
    live.open()
    live.subscribe(topic="task", task_id=task.id)
    half = replace(task, progress=Progress(fraction=0.5, message="page 4"))
    ended = succeed(half, result=None, now=NOW).applied_to(half)
    images = [encode_task(each, None)[0] for each in (task, half, half, ended)]
    for number, (before, after) in enumerate(pairwise(images)):
        record = {"SequenceNumber": str(number), "OldImage": before, "NewImage": after}
        live.deployment.relay([{"eventName": "MODIFY", "dynamodb": record}])
        live.push()
        live.deployment.clock.advance(SECOND)
    first, second = live.received()
    assert (first["type"], first["task_id"]) == ("progress", task.id)
    assert first["progress"] == {"fraction": 0.5, "message": "page 4"}
    assert [item["status"] for item in second["items"]] == ["SUCCEEDED"]


def test_push_that_fails_never_fails_the_batch(
    live: Live, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    live.open()
    live.subscribe()

    def throttled(*_: Any) -> None:
        raise Unavailable("throttled")

    monkeypatch.setattr(backend, "invoke_later", throttled)
    live.deployment.ask(recorded("http_api_post"))
    assert relay_new(live.deployment, set()) == []
    [logged] = [record for record in caplog.records if record.message == "changes not pushed"]
    assert (logged.step, logged.count) == ("push", 1)


def test_api_without_live_updates_has_no_tickets(deployment: Deployment):
    event = recorded("http_api_post") | {"rawPath": "/v1/live/tickets", "body": ""}
    status, _ = deployment.ask(event)
    assert status == 404


def test_relay_without_live_updates_reads_nothing_for_them(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
):
    made: list[str] = []
    monkeypatch.setattr(backend, "live_store", lambda: made.append("store"))
    monkeypatch.setattr(clients, "functions", lambda: made.append("functions"))
    deployment.ask(recorded("http_api_post"))
    assert relay_new(deployment, set()) == []
    assert made == []


def test_relay_without_live_updates_relays_without_the_sdk():
    """Most of a relay's cold start would be its import."""
    code = (
        "import json, sys, types, lambdas.relay as relay;"
        "records = json.load(sys.stdin)['Records'];"
        "context = types.SimpleNamespace(**dict.fromkeys(('function_name', 'memory_limit_in_mb',"
        " 'invoked_function_arn', 'aws_request_id')));"
        "answer = relay.handle({'Records': records}, context);"
        "assert answer == {'batchItemFailures': []}, answer;"
        "sys.exit(bool({'boto3', 'botocore.session', 'duetime.core.live'} & set(sys.modules)))"
    )
    records = json.dumps(recorded("dynamodb_stream"))
    done = subprocess.run(
        [sys.executable, "-c", code], input=records, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
