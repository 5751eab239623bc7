"""The log records of a handler, in a process that is set up like Lambda's."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

ENVIRONMENT = {
    "AWS_LAMBDA_FUNCTION_NAME": "executor-medium",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "DUETIME_TABLE": "duetime",
    "DUETIME_QUEUES": json.dumps(
        dict.fromkeys(("high", "medium", "low"), "https://sqs.example/1/lane")
    ),
}

INVOKED = """
import logging, sys
logging.getLogger().addHandler(logging.StreamHandler(sys.stdout))  # as Lambda's runtime does

from duetime import task
from lambdas import executor as handler
from duetime.executor.targets.python import run_handler
from tests.world import sqlite_world

@task("shop.restock")
def restock(payload, ctx):
    logging.getLogger("shop").warning("low on tea", extra={"aisle": 7})
    raise ValueError("no tea")

with sqlite_world() as world:
    task_id = world.submit(target={"type": "python", "handler": "shop.restock"})
    until = world.clock.now() + 900_000
    handler.execute_batch(world.ports, {"python": run_handler}, world.receive(), until)
logging.getLogger("duetime.executor.worker_pool").info("from us")
handler.logger.info("over")
print(task_id)
"""


def logged() -> tuple[str, list[dict[str, Any]]]:
    done = subprocess.run(
        [sys.executable, "-c", INVOKED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    *lines, task_id = done.stdout.splitlines()
    return task_id, [json.loads(line) for line in lines]


def test_log_records_of_a_handler_on_lambda_have_our_format_and_the_ids():
    task_id, records = logged()
    messages = ["low on tea", "attempt failed", "from us", "over"]
    assert [record["message"] for record in records] == messages
    low, failed, _, over = records
    assert (low["level"], low["service"], low["aisle"]) == ("WARNING", "executor", 7)
    for record in (low, failed):
        assert (record["task_id"], record["attempt"]) == (task_id, 1)
        assert record["handler"] == "shop.restock"
    assert "task_id" not in over
