"""A synthesized stack, created in moto, with AWS's own calls simulated.

moto creates tables, queues, roles and functions from a template, but does not run functions. So
the functions run here, from the assets that were synthesized and with the
environment that moto resolved; routes, event sources and rules are read from the template.
"""

import json
import subprocess
import sys
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from io import BytesIO
from pathlib import Path
from socket import create_server
from time import monotonic, time_ns
from typing import Any
from urllib.request import urlopen

import boto3

from duetime.core.times import MINUTE, Millis
from tests.infra.functions import Function, Reply, brought_by_lambda
from tests.infra.transform import transformed

ACCOUNT, REGION = "123456789012", "us-east-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": REGION,
}


class Deployed:
    def __init__(self, assembly: Path, endpoint: str, scratch: Path) -> None:
        [file] = assembly.glob("*.template.json")
        self.template = json.loads(file.read_text())
        self.stack = file.name.partition(".")[0]
        self.now: Millis = _real_now()  # of the functions' clocks; only a test advances it
        self._moments: list[tuple[Millis, Millis]] = []  # by moto's clock, and by the functions'
        self._kept: list[tuple[str, str]] = []  # URL and receipt of messages not deleted
        self._assembly = assembly
        self._endpoint = endpoint
        self._scratch = scratch
        self._upload_assets()
        self.client("cloudformation").create_stack(
            StackName=self.stack,
            TemplateBody=json.dumps(transformed(self.template)),
            Capabilities=["CAPABILITY_IAM"],
        )
        made = self.client("cloudformation").describe_stack_resources(StackName=self.stack)
        self.ids = {r["LogicalResourceId"]: r for r in made["StackResources"]}
        self.functions = {
            logical: self._function(logical)
            for logical, resource in self.template["Resources"].items()
            if resource["Type"] == "AWS::Lambda::Function"
        }

    def client(self, service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=self._endpoint,
            region_name=REGION,
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def close(self) -> None:
        for function in self.functions.values():
            if function.process is not None:
                function.process.kill()
                function.process.communicate()

    # What AWS does.

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Sends a request, and returns the status and the JSON of the answer."""
        answer = self.request(method, path, body)
        return answer["statusCode"], json.loads(answer["body"] or "null")

    def request(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """API Gateway: a request of the HTTP API, by its route."""
        path, _, query = path.partition("?")
        public = path.startswith("/v1/callbacks/")
        place = "/v1/callbacks/{token}" if public else "/v1/{proxy+}"
        key = f"{method} {place if path.startswith('/v1/') else path}"
        route = self._one("AWS::ApiGatewayV2::Route", lambda r: r["RouteKey"] == key)
        assert route["AuthorizationType"] == ("NONE" if public else "AWS_IAM")
        target = route["Target"]["Fn::Join"][1][-1]["Ref"]
        integration = self.template["Resources"][target]["Properties"]
        event = {
            "version": "2.0",
            "routeKey": route["RouteKey"],
            "rawPath": path,
            "rawQueryString": query,
            "headers": {"content-type": "application/json"},
            "requestContext": {"http": {"method": method, "path": path}},
            "body": None if body is None else json.dumps(body),
            "isBase64Encoded": False,
        }
        [function] = _attributes(integration["IntegrationUri"])
        answered: dict[str, Any] = self._invoke(function, event, 29_000).answer
        return answered

    def tick(self, milliseconds: int = 60_000) -> list[Reply]:
        """EventBridge: every target of every rule."""
        rules = self._all("AWS::Events::Rule")
        targets = [target for rule in rules for target in rule["Targets"]]
        return [
            self._invoke(target["Arn"]["Fn::GetAtt"][0], json.loads(target["Input"]), milliseconds)
            for target in targets
        ]

    def deliver(self, queue: str) -> int:
        """Lambda's poller: one batch of a queue. Returns the number of messages."""
        sqs, url = self.client("sqs"), self.url(queue)
        source = self._queue(queue)
        mapping = self._mapping(source, "Arn")
        received = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=mapping["BatchSize"], AttributeNames=["All"]
        ).get("Messages", [])
        if not received:
            return 0
        records = [self._record(message, queue) for message in received]
        answer = self._invoke(mapping["FunctionName"]["Ref"], {"Records": records}).answer
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        kept = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        for message in received:
            if message["MessageId"] in kept:
                self._kept.append((url, message["ReceiptHandle"]))
            else:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return len(received)

    def open_connections(self) -> None:
        """Has the function `websocket` post to moto, where every connection is open. Before its
        first call."""
        function = self.functions[self.named("websocket")]
        function.environment["DUETIME_LIVE_URL"] = self._endpoint

    def connection(self, event: Any) -> Any:
        """API Gateway: a step of a connection, or its authorizer."""
        return self._invoke(self.named("websocket"), event, 29_000).answer

    def named(self, function: str) -> str:
        """Returns the logical id of a function."""
        [found] = [
            logical
            for logical, made in self.template["Resources"].items()
            if made["Type"] == "AWS::Lambda::Function"
            and made["Properties"]["Description"].endswith(f": {function}")
        ]
        return found

    def show_kept(self) -> None:
        """Lets the visibility timeout of the messages that the functions kept pass."""
        sqs = self.client("sqs")
        while self._kept:
            url, receipt = self._kept.pop()
            sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0)

    def redrive(self, queue: str, to: str | None = None) -> int:
        """The console's redrive: the same bodies, under new ids, at a new time; back to their own
        queue, or to another."""
        sqs = self.client("sqs")
        self._moments.append((_real_now(), self.now))
        letters = sqs.receive_message(QueueUrl=self.url(f"{queue}-dlq"), MaxNumberOfMessages=10)
        for letter in letters.get("Messages", []):
            sqs.send_message(QueueUrl=self.url(to or queue), MessageBody=letter["Body"])
            handle = letter["ReceiptHandle"]
            sqs.delete_message(QueueUrl=self.url(f"{queue}-dlq"), ReceiptHandle=handle)
        return len(letters.get("Messages", []))

    def relay(self, records: list[Any] | None = None) -> Reply:
        """Lambda's poller of the stream: passes everything written so far, or the given records."""
        mapping = self._one("AWS::Lambda::EventSourceMapping", lambda m: "StartingPosition" in m)
        records = self.stream_records() if records is None else records
        event = {"Records": [r for r in records if _passes(r, mapping["FilterCriteria"])]}
        reply = self._invoke(mapping["FunctionName"]["Ref"], event)
        assert reply.answer == {"batchItemFailures": []}
        return reply

    def stream_records(self, arn: str | None = None) -> list[Any]:
        streams = self.client("dynamodbstreams")
        arn = (
            arn or streams.list_streams(TableName=self.functions_table())["Streams"][0]["StreamArn"]
        )
        [shard] = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        iterator = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = streams.get_records(ShardIterator=iterator)["Records"]
        return json.loads(json.dumps(records, default=_as_lambda_passes_it))

    def functions_table(self) -> str:
        [table] = {f.environment["DUETIME_TABLE"] for f in self.functions.values()}
        return table

    def url(self, queue: str) -> str:
        return self.client("sqs").get_queue_url(QueueName=queue)["QueueUrl"]

    def waiting(self, queue: str) -> int:
        name = "ApproximateNumberOfMessages"
        answer = self.client("sqs").get_queue_attributes(
            QueueUrl=self.url(queue), AttributeNames=[name]
        )
        return int(answer["Attributes"][name])

    def _invoke(self, logical: str, event: Any, milliseconds: int = 15 * MINUTE) -> Reply:
        self._moments.append((_real_now(), self.now))
        return self.functions[logical].invoke(event, self.now, milliseconds)

    def _record(self, message: Any, queue: str) -> dict[str, Any]:
        attributes = message["Attributes"]
        sent_at = self._by_the_functions_clocks(int(attributes["SentTimestamp"]))
        return {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": attributes | {"SentTimestamp": str(sent_at)},
            "eventSource": "aws:sqs",
            "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}",
        }

    def _by_the_functions_clocks(self, moment: Millis) -> Millis:
        return next(now for real, now in reversed(self._moments) if real <= moment)

    # What the template says.

    def _all(self, kind: str) -> list[dict[str, Any]]:
        return [r["Properties"] for r in self.template["Resources"].values() if r["Type"] == kind]

    def _one(self, kind: str, wanted: Any) -> dict[str, Any]:
        [found] = [made for made in self._all(kind) if wanted(made)]
        return found

    def _queue(self, name: str) -> str:
        [logical] = [
            logical
            for logical, made in self.template["Resources"].items()
            if made["Type"] == "AWS::SQS::Queue" and made["Properties"].get("QueueName") == name
        ]
        return logical

    def _mapping(self, source: str, attribute: str) -> dict[str, Any]:
        return self._one(
            "AWS::Lambda::EventSourceMapping",
            lambda m: m["EventSourceArn"] == {"Fn::GetAtt": [source, attribute]},
        )

    def _function(self, logical: str) -> Function:
        made = self.client("lambda").get_function_configuration(
            FunctionName=self.ids[logical]["PhysicalResourceId"]
        )
        key = self.template["Resources"][logical]["Properties"]["Code"]["S3Key"]
        environment = made["Environment"]["Variables"]
        return Function(
            name=made["FunctionName"],
            arn=made["FunctionArn"],
            handler=made["Handler"],
            bundle=self._assembly / f"asset.{key.removesuffix('.zip')}",
            environment=environment | CREDENTIALS | {"AWS_ENDPOINT_URL": self._endpoint},
            libraries=brought_by_lambda(self._scratch),
            scratch=self._scratch,
        )

    def _upload_assets(self) -> None:
        """As `cdk deploy` does first."""
        s3, bucket = self.client("s3"), f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"
        s3.create_bucket(Bucket=bucket)
        for folder in self._assembly.glob("asset.*"):
            key = f"{folder.name.removeprefix('asset.')}.zip"
            s3.put_object(Bucket=bucket, Key=key, Body=_zipped(folder))


def _real_now() -> Millis:
    return time_ns() // 1_000_000


def _as_lambda_passes_it(found: datetime | bytes) -> float | str:
    return b64encode(found).decode() if isinstance(found, bytes) else found.timestamp()


def _passes(record: Any, criteria: Any) -> bool:
    """Whether a record has, at every place that a filter names, one of the values that it lists."""

    def has(value: Any, wanted: Any) -> bool:
        if isinstance(wanted, list):
            return value in wanted
        return all(name in value and has(value[name], wanted[name]) for name in wanted)

    return any(has(record, json.loads(only["Pattern"])) for only in criteria["Filters"])


def _attributes(value: Any) -> list[str]:
    """Returns the logical ids of the resources whose attributes a value uses."""
    match value:
        case {"Fn::GetAtt": [str(name), _]}:
            return [name]
        case dict():
            return [name for part in value.values() for name in _attributes(part)]
        case list():
            return [name for part in value for name in _attributes(part)]
    return []


def _zipped(folder: Path) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


@contextmanager
def moto_server(scratch: Path) -> Iterator[str]:
    """In a process of its own: it must not share its state with the tests' moto."""
    with create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-m", "tests.quick_moto", "-H", "127.0.0.1", "-p", str(port)]
    with (scratch / "moto.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        endpoint = f"http://127.0.0.1:{port}"
        _wait_for(endpoint, process)
        yield endpoint
    finally:
        process.kill()
        process.wait()


def _wait_for(endpoint: str, process: subprocess.Popen[bytes]) -> None:
    give_up = monotonic() + 60
    while monotonic() < give_up and process.poll() is None:
        try:
            with urlopen(f"{endpoint}/moto-api/", timeout=5):
                return
        except OSError:
            continue
    raise TimeoutError("moto does not answer")
