"""Compares import and first call of each bundled function with `boto3.client("dynamodb")` alone.

Each start is a new interpreter that sees the bundle and what Lambda's runtime brings, nothing else,
and has no network. The starts of all functions take turns, and the least CPU time of each function
counts, from the start that was disturbed least. The bundles are built for this machine and Python.

    python bench/coldstart.py [--rounds 15]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import report

from duetime.aws import schema
from duetime.aws.listing import listing_bucket
from duetime.aws.message_codec import body_of
from duetime.aws.task_items import encode_task
from duetime.core.codec import to_json
from duetime.core.delivery import delivery_of
from duetime.core.steps.lease import lease
from duetime.core.steps.submit import submit
from duetime.core.task import Spec
from duetime.core.times import Millis
from duetime.core.wake_policy import WakePolicy
from duetime.core.wakes import minute_of
from duetime.engine.clock import SystemClock, SystemRandom
from duetime.scanner.windows import LOOK_BACK
from infra.bundle import HANDLERS, MANIFEST, THIS_PYTHON, Bundles, Machine, make_bundles
from infra.stage import Handlers
from tests.infra.functions import brought_by_lambda

ROOT = Path(__file__).parents[1]
WAKE_POLICY = WakePolicy(shards=16)
LIMITS = {"scanner": 1.2, "executor": 1.2, "api": 1.8}
ENVIRONMENT = {
    "AWS_LAMBDA_FUNCTION_NAME": "cold",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "example",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "DUETIME_TABLE": "duetime",
    "DUETIME_QUEUES": json.dumps(
        {
            lane: f"https://sqs.eu-central-1.amazonaws.com/123456789012/{lane}"
            for lane in ("high", "medium", "low")
        }
    ),
}
SPEC = {"target": {"type": "python", "handler": "demo.hello"}, "payload": {"name": "Ada"}}

Order = dict[str, Any]


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory() as scratch:
        bundles = make_bundles(small_handlers(Path(scratch)), Machine(python=THIS_PYTHON))
        libraries = brought_by_lambda(Path(scratch))
        took: dict[str, list[float]] = {}
        for number in range(options.rounds + 1):
            for name, order in _orders(bundles, libraries).items():
                seconds = start(order)
                if number:  # the first round warms the page cache
                    took.setdefault(name, []).append(seconds)
    bare = min(took.pop("boto3"))
    rows = [
        {
            "what": f"{name}: import and first call",
            "CPU ms": 1_000 * min(times),
            "× boto3.client": f"{min(times) / bare:.2f}",
            "at most": LIMITS.get(name, ""),
        }
        for name, times in took.items()
    ]
    bare_row = {"what": 'boto3.client("dynamodb") alone', "CPU ms": 1_000 * bare}
    report(
        "coldstart", "Cold starts", [bare_row | {"× boto3.client": "1.00", "at most": ""}, *rows]
    )
    return int(any(min(took[name]) / bare > limit for name, limit in LIMITS.items()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "--rounds", type=int, default=15, help="starts of each function (default: 15)"
    )
    return parser.parse_args()


def _orders(bundles: Bundles, libraries: Path) -> dict[str, Order]:
    def order(bundle: Path, handler: str, event: Any, **environment: str) -> Order:
        return {
            "path": [str(bundle), str(libraries)],
            "environment": ENVIRONMENT | environment,
            "handler": handler,
            "event": event,
            "answers": answers,
        }

    message, answers = _message_and_answers()
    named = {"DUETIME_HANDLERS": HANDLERS}
    return {
        "boto3": order(bundles.roles, "", None),
        "scanner": order(bundles.roles, "lambdas.scanner.handle", {}),
        "executor": order(
            bundles.executor, "lambdas.executor.handle", {"Records": [message]}, **named
        ),
        "api": order(
            bundles.api,
            "lambdas.api.handle",
            request("/v1/tasks", SPEC),
            DUETIME_HANDLERS=MANIFEST,
        ),
        "relay": order(bundles.roles, "lambdas.relay.handle", {"Records": []}),
    }


def _message_and_answers() -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the message of a task that is due, and AWS's answers to the functions."""
    now = SystemClock().now()
    [(message, item)] = due_tasks(1, now)
    cursors = dict.fromkeys(
        range(WAKE_POLICY.shards), minute_of(now) - LOOK_BACK
    )  # nothing to catch up on
    body = to_json({"cursors": cursors, "swept": 0})
    cursor = {schema.FENCE: {"N": "1"}, schema.TEXT: {"S": body}}
    return message, {
        "GetItem": {"Item": config_row(now) | cursor},
        "PutItem": {},
        "UpdateItem": {"Attributes": item},
        "Scan": {"Items": [], "Count": 0},
        "SendMessageBatch": {"Successful": [{"Id": "0", "MessageId": "1"}]},
    }


def due_tasks(count: int, now: Millis) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields messages of an SQS event, each with the item of its leased task."""
    chance = SystemRandom()
    for number in range(1, count + 1):
        spec = Spec(target=SPEC["target"], payload=SPEC["payload"], run_at=now)
        task = submit(WAKE_POLICY, chance.new_id(now), spec, now=now, draw=chance.draw())
        delivery = delivery_of(task, now)
        running = lease(delivery, now=now, holder=chance.nonce()).applied_to(task)
        item, _ = encode_task(running, listing_bucket(running, WAKE_POLICY.shards))
        message = {
            "messageId": str(number),
            "receiptHandle": str(number),
            "body": body_of(delivery),
            "attributes": {"SentTimestamp": str(now), "ApproximateReceiveCount": "1"},
        }
        yield message, item


def config_row(since: Millis) -> dict[str, Any]:
    return {schema.SHARDS: {"N": str(WAKE_POLICY.shards)}, schema.SINCE: {"N": str(since)}}


def request(path: str, body: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST", "path": path}},
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }


def small_handlers(scratch: Path) -> Handlers:
    """Returns a folder with one handler that imports nothing of its own."""
    folder = scratch / "handlers"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "handlers" / "hello.py", folder)
    return Handlers(folder=folder)


def start(order: Order) -> float:
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("cold.py"))]
    done = subprocess.run(
        command,
        input=json.dumps(order),
        capture_output=True,
        text=True,
        check=False,
        env={},  # the order says what it sees, nothing of this machine
    )
    if done.returncode:
        raise RuntimeError(f"{order['handler']}: {done.stderr}")
    result = json.loads(done.stderr.splitlines()[-1])
    answer = result["answer"] or {}
    if answer.get("statusCode", 201) not in (200, 201) or answer.get("batchItemFailures"):
        raise RuntimeError(f"{order['handler']}: {answer}")
    return float(result["took"])


if __name__ == "__main__":
    sys.exit(main())
