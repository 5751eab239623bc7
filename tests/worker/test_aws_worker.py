"""Workers of a pool, each in a process of its own, with a server of moto."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

from duetime.aws import clients
from duetime.aws.backend import Adapters, aws_adapters
from duetime.aws.provision import SHARDS, TABLE, ensure_resources
from duetime.aws.worker_store import DynamoWorkerStore
from duetime.core.lifecycle import Outcome, Status
from duetime.core.retention import RETENTION
from duetime.core.retry import RetryPolicy
from duetime.core.steps.submit import submit
from duetime.core.task import Task
from duetime.engine.enqueue import enqueue
from tests.factories import a_spec

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0  # seconds
HANDLERS = """
import time
from duetime import task


@task("shop.count")
def count(payload, ctx):
    for _ in range(payload):
        time.sleep(0.02)
    return ctx.attempt
"""


class Deployment:
    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        dynamodb, sqs = clients.dynamodb(url), clients.sqs(url)
        queues = ensure_resources(dynamodb, sqs, table=TABLE, pools=["batch"])
        self.adapters: Adapters = aws_adapters(
            table=TABLE,
            queues=queues,
            shards=SHARDS,
            retention=RETENTION,
            dynamodb=dynamodb,
            sqs=sqs,
        )
        self.workers = DynamoWorkerStore(dynamodb, TABLE)
        self.ports = self.adapters.ports
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        (folder / "shop.py").write_text(HANDLERS)

    def submit(self, handler: str, payload: Any) -> str:
        now, draw = self.ports.clock.now(), self.ports.chance.draw()
        spec = a_spec(
            target={"type": "python", "handler": handler},
            run_at=now,
            payload=payload,
            pool="batch",
            timeout=300,
            retry=RetryPolicy(max_attempts=1),
        )
        new_id = self.ports.chance.new_id(now)
        task = submit(self.ports.wake_policy, new_id, spec, now=now, draw=draw)
        self.ports.store.put([task])
        enqueue(self.ports, [task])
        return task.id

    def task(self, task_id: str) -> Task:
        return self.ports.store.get([task_id])[task_id]

    def until(self, task_id: str, reached: Callable[[Task], bool]) -> Task:
        give_up = monotonic() + PATIENCE
        while not reached(task := self.task(task_id)):
            assert monotonic() < give_up, task
            sleep(0.05)
        return task

    def worker(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "duetime", "worker", "--pool", "batch", "--name", name]
        command += ["--handlers", str(self._folder), "--endpoint-url", self.url, *options]
        with self.log(name).open("wb") as log:
            started = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        self._started.append(started)
        return started

    def log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def close(self) -> None:
        for started in self._started:
            started.kill()
            started.wait()
        self.adapters.close()


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", os.environ.get("AWS_DEFAULT_REGION", "eu-central-1"))
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    made = Deployment("http://{}:{}".format(*server.get_host_and_port()), tmp_path)
    yield made
    made.close()
    server.stop()


def test_task_of_a_worker_that_is_stopped_runs_on_another_one_and_loses_no_attempt(
    deployment: Deployment,
):
    first = deployment.worker("first", "--grace", "0")
    task_id = deployment.submit("shop.count", 10_000)
    deployment.until(task_id, lambda task: task.status is Status.RUNNING)
    first.send_signal(signal.SIGTERM)

    assert first.wait(PATIENCE) == 0
    task = deployment.task(task_id)
    assert task.current is not None
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.INTERRUPTED)
    assert (task.attempt, task.budget) == (1, 2)
    assert deployment.workers.list(deployment.ports.clock.now()) == [], "it has left"
    lines = [json.loads(line) for line in deployment.log("first").read_text().splitlines()]
    assert {(line["worker"], line["pool"]) for line in lines} == {("first", "batch")}

    second = deployment.worker("second")
    again = deployment.until(task_id, lambda task: task.status is Status.RUNNING)
    assert again.attempt == 2
    for _ in range(2):  # the second signal skips the grace
        second.send_signal(signal.SIGTERM)
        sleep(0.1)
    assert second.wait(PATIENCE) == 0
    assert deployment.task(task_id).budget == 3


def test_task_with_a_handler_that_the_worker_does_not_know_goes_back(deployment: Deployment):
    deployment.worker("only")
    unknown = deployment.submit("shop.unknown", None)
    known = deployment.submit("shop.count", 1)
    task = deployment.until(unknown, lambda task: task.attempt == 1 and task.status != "RUNNING")
    assert task.current is not None
    assert (task.status, task.current.outcome) == (Status.RETRYING, Outcome.SNOOZED)
    deployment.until(known, lambda task: task.status is Status.SUCCEEDED)
