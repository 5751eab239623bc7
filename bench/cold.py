"""One cold start in a new interpreter: `python -I -S cold.py < order.json` prints its CPU time.

The order names the folders to import from, a handler and an event. Without a handler the start is
`boto3.client("dynamodb")` alone. botocore gets a prepared answer instead of sending a request,
unless the order names a port of this machine: then every host name resolves to that port.
"""

import json
import os
import sys
import time

order = json.load(sys.stdin)
sys.path[:0] = order["path"]
os.environ.update(order["environment"])
os.chdir(order["path"][0])


class Context:
    function_name = "cold"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:cold"
    aws_request_id = "00000000-0000-4000-8000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


def answered(_session, request):
    from botocore.awsrequest import AWSResponse

    operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
    body = json.dumps(order["answers"][operation]).encode()

    class Raw:
        def stream(self):
            yield body

    return AWSResponse(request.url, 200, {}, Raw())


def start_function():
    module, _, name = order["handler"].rpartition(".")
    handle = getattr(__import__(module, fromlist=[name]), name)
    if "answers" in order and "botocore.httpsession" in sys.modules:
        sys.modules["botocore.httpsession"].URLLib3Session.send = answered
    return handle(order["event"], Context())


def start_boto3():
    import boto3

    boto3.client("dynamodb")


def at_port(port):
    import socket

    real = socket.getaddrinfo
    socket.getaddrinfo = lambda _host, _port, *rest: real("127.0.0.1", port, *rest)


if "port" in order:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # a function has less than a core
    at_port(order["port"])
start = start_function if order["handler"] else start_boto3
begin = time.process_time()
answer = start()
took = time.process_time() - begin
print(json.dumps({"took": took, "answer": answer, "modules": len(sys.modules)}), file=sys.stderr)
