"""The executor in a process of its own, as Lambda's runtime calls it: real time, a real exit.

tests/infra has a fake of Lambda's runtime; a moto server replaces AWS.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any
from uuid import uuid4

import botocore
import pytest

from duetime.api.app import Api
from duetime.api.http import Request
from duetime.aws import backend, clients
from duetime.aws.provision import ensure_resources
from duetime.aws.settings import queue_setting
from duetime.core.lanes import Lane, Queue
from duetime.core.times import DAY, SECOND
from lambdas.executor import EXIT_CODE
from tests.infra.deployed import CREDENTIALS, moto_server
from tests.lambdas.conftest import queue_arn

REPOSITORY = Path(__file__).parents[2]
LIBRARIES = Path(botocore.__file__).parents[1]
PATIENCE = 120.0  # seconds; a wait that long is a failure
HANDLERS = """
import os
from duetime.executor import attempt_loop
from duetime.handlers.registry import task

attempt_loop.STOP_GRACE = 100  # ms, for a handler that was asked to stop

@task("sandbox.echo")
def echo(payload, ctx):
    return payload

@task("sandbox.breaks")
def breaks(payload, ctx):
    raise ConnectionError("broken")

@task("sandbox.hangs")
def hangs(payload, ctx):
    silent, _ = os.pipe()
    os.read(silent, 1)  # a call into C: no exception reaches it
"""


@dataclass
class Sandbox:
    """One executor of the lane medium, with its queue and table."""

    api: Api
    ports: Any
    sqs: Any
    urls: dict[Queue, str]
    process: subprocess.Popen[str]
    printed: Path

    def submit(self, *tasks: dict[str, Any]) -> list[str]:
        body = json.dumps({"tasks": tasks}).encode()
        headers = {"content-type": "application/json"}
        request = Request(method="POST", path="/v1/tasks/batch", headers=headers, body=body)
        response = self.api.call(request)
        return [result["task"]["id"] for result in response.body["results"]]

    def invoke(self) -> str:
        """Returns the runtime's answer to a batch of all messages; nothing, if it has ended."""
        received = self.sqs.receive_message(
            QueueUrl=self.urls[Queue(Lane.MEDIUM)], MaxNumberOfMessages=10, AttributeNames=["All"]
        )
        records = [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "eventSourceARN": queue_arn(self.urls[Queue(Lane.MEDIUM)]),
            }
            for message in received["Messages"]
        ]
        order = {
            "name": "executor",
            "arn": "arn",
            "event": {"Records": records},
            "now": self.ports.clock.now() + SECOND,
            "milliseconds": 900_000,
        }
        assert self.process.stdin
        assert self.process.stdout
        give_up = Timer(PATIENCE, self.process.kill)
        give_up.start()
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        give_up.cancel()
        return line

    def statuses(self, ids: list[str]) -> list[str]:
        tasks = self.ports.store.get(ids)
        return [tasks[task_id].status.value for task_id in ids]

    def held(self) -> int:
        """Returns how many messages are in the lane, visible or not."""
        depth = self.ports.lanes.depth(Queue(Lane.MEDIUM))
        return depth.ready + depth.delayed + depth.in_flight


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with moto_server(tmp_path_factory.mktemp("moto")) as endpoint:
        yield endpoint


@pytest.fixture
def sandbox(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    table = f"duetime-{uuid4().hex[:8]}"
    dynamodb, sqs = clients.dynamodb(endpoint), clients.sqs(endpoint)
    urls = ensure_resources(dynamodb, sqs, table=table, prefix=table)
    adapters = backend.aws_adapters(
        table=table, queues=urls, shards=1, retention=30 * DAY, endpoint_url=endpoint
    )
    names = ("sandbox.echo", "sandbox.breaks", "sandbox.hangs")
    api = Api(adapters.ports, handlers=lambda: names, version="0")
    process = _start(tmp_path, endpoint, table, urls)
    yield Sandbox(api, adapters.ports, sqs, urls, process, tmp_path / "printed")
    process.kill()
    process.communicate()
    adapters.close()


def _start(
    folder: Path, endpoint: str, table: str, urls: dict[Queue, str]
) -> subprocess.Popen[str]:
    handlers = folder / "sandbox_handlers"
    handlers.mkdir()
    (handlers / "handlers_of_a_sandbox.py").write_text(HANDLERS)
    runtime = REPOSITORY / "tests" / "infra" / "runtime.py"
    command = [sys.executable, "-I", "-S", str(runtime), str(REPOSITORY), str(LIBRARIES)]
    environment = {
        **CREDENTIALS,
        "PATH": os.environ["PATH"],
        "PRINTED": str(folder / "printed"),
        "AWS_LAMBDA_FUNCTION_NAME": "executor",
        "DUETIME_ENDPOINT_URL": endpoint,
        "DUETIME_TABLE": table,
        "DUETIME_SHARDS": "1",
        "DUETIME_HANDLERS": str(handlers),
        "DUETIME_QUEUES": queue_setting(urls),
    }
    return subprocess.Popen(
        [*command, "lambdas.executor.handle"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def a_task(handler: str, **fields: Any) -> dict[str, Any]:
    return {"target": {"type": "python", "handler": f"sandbox.{handler}"}, **fields}


def test_sandbox_ends_when_a_handler_cannot_be_stopped_and_leaves_no_message_behind(
    sandbox: Sandbox,
):
    ids = sandbox.submit(
        a_task("hangs", timeout=1, retry={"max_attempts": 2, "base_delay": 3_600}),
        a_task("echo"),
        a_task("breaks", retry={"max_attempts": 1}),
    )

    assert sandbox.invoke() == "", "it ends without an answer"

    assert sandbox.process.wait(PATIENCE) == EXIT_CODE
    assert sandbox.statuses(ids) == ["RETRYING", "SUCCEEDED", "DEAD"]
    assert sandbox.held() == 1, "the dead letter; the other two are deleted"
    printed = [json.loads(line) for line in sandbox.printed.read_text().splitlines()]
    assert printed[-1]["message"] == "sandbox ended: handlers not stopped"
    assert (printed[-1]["level"], printed[-1]["handlers"]) == ("ERROR", 1)


def test_sandbox_whose_handlers_all_returned_goes_on(sandbox: Sandbox):
    for _ in range(2):
        ids = sandbox.submit(a_task("echo"), a_task("breaks", retry={"base_delay": 3_600}))

        answer = json.loads(sandbox.invoke())["answer"]

        assert answer == {"batchItemFailures": []}
        assert sandbox.statuses(ids) == ["SUCCEEDED", "RETRYING"]
    assert sandbox.process.poll() is None
