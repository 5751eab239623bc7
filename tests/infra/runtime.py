"""A replacement of Lambda's runtime: `python -I -S runtime.py BUNDLE LIBRARIES HANDLER`.

It sees the bundle, Lambda's libraries (boto3) and the standard library, nothing else, so a module
that a bundle lacks is missing here too. Each line of its input is an invocation; each line of its
output has the answer, the printed text and the calls made to AWS.
"""

import importlib
import json
import os
import sys
import time
import traceback

bundle, libraries, handler = sys.argv[1:]
sys.path[:0] = [bundle, libraries]
os.chdir(bundle)

replies = os.fdopen(os.dup(1), "w", buffering=1)
printed = open(os.environ["PRINTED"], "w+")  # noqa: SIM115 - for as long as this process lives
os.dup2(printed.fileno(), 1)

now = 0  # in ms; the clock does not advance while a function runs
time.time_ns = lambda: now * 1_000_000

import botocore.client  # noqa: E402
import botocore.httpsession  # noqa: E402

calls: list[list[str]] = []
make_api_call = botocore.client.BaseClient._make_api_call


def recorded(self, operation, parameters):
    service = self.meta.service_model.service_name
    on = ("TableName", "IndexName", "QueueUrl", "FunctionName")
    named = [str(parameters[name]) for name in on if name in parameters]
    named += list(parameters.get("RequestItems", ()))
    calls.append([service, operation, *named])
    return make_api_call(self, operation, parameters)


botocore.client.BaseClient._make_api_call = recorded


PATIENCE = 60  # seconds; on a busy machine moto answers later than AWS may
start_session = botocore.httpsession.URLLib3Session.__init__


def patient(self, *args, **options):
    start_session(self, *args, **options | {"timeout": PATIENCE})


botocore.httpsession.URLLib3Session.__init__ = patient


class Context:
    memory_limit_in_mb = 512
    aws_request_id = "00000000-0000-4000-8000-000000000000"

    def __init__(self, name: str, arn: str, milliseconds: int) -> None:
        self.function_name, self.invoked_function_arn = name, arn
        self._until = time.monotonic() + milliseconds / 1_000

    def get_remaining_time_in_millis(self) -> int:
        return max(round((self._until - time.monotonic()) * 1_000), 0)


def invoke(order):
    module, _, name = handler.rpartition(".")
    try:
        handle = getattr(importlib.import_module(module), name)
        context = Context(order["name"], order["arn"], order["milliseconds"])
        return {"answer": handle(order["event"], context)}
    except Exception:  # noqa: BLE001 - reported to the caller
        return {"error": traceback.format_exc()}


for line in sys.stdin:
    order = json.loads(line)
    now = order["now"]
    calls.clear()
    start = printed.tell()
    reply = invoke(order)
    sys.stdout.flush()
    printed.seek(start)
    lines = printed.read().splitlines()
    replies.write(json.dumps(reply | {"calls": calls, "printed": lines}) + "\n")
