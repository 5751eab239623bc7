"""The reduced endpoint data: a request goes where botocore would send it."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.loaders import Loader
from botocore.parsers import ResponseParserError
from botocore.session import get_session

from duetime.aws import botocore_endpoints as endpoints
from duetime.aws import clients

CALLS = {"dynamodb": "list_tables", "dynamodbstreams": "list_streams", "sqs": "list_queues"}
CALLS |= {"lambda": "list_functions", "s3": "list_buckets", "ssm": "describe_parameters"}
CALLS |= {"events": "list_rules", "sesv2": "list_contact_lists"}
CALLS |= {"sns": "list_topics", "stepfunctions": "list_activities", "rds-data": "execute_statement"}
CALLS |= {"apigatewaymanagementapi": "get_connection"}
ARGUMENTS = {
    "execute_statement": {"resourceArn": "a" * 11, "secretArn": "b" * 11, "sql": "c"},
    "get_connection": {"ConnectionId": "c"},
}
MAKERS: dict[str, Callable[[], Any]] = {
    "dynamodb": clients.dynamodb,
    "dynamodbstreams": clients.streams,
    "sqs": clients.sqs,
    "lambda": clients.functions,
    "ssm": clients.ssm,
    "s3": clients.s3,
    **{
        service: partial(clients.client_for, service, read_timeout=5, attempts=1)
        for service in (
            *("events", "rds-data", "sesv2", "sns", "stepfunctions"),
            "apigatewaymanagementapi",
        )
    },
}
LOADER = Loader()  # it caches the data, which takes most of the time to make a client
REGIONS = ("eu-central-1", "us-east-1", "cn-north-1", "us-gov-west-1", "eu-nowhere-7")


@cache
def reduced() -> str:
    return json.dumps(endpoints.our_endpoints())


@pytest.fixture(autouse=True)
def in_a_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    file = tmp_path / "data" / "endpoints.json"
    file.parent.mkdir()
    file.write_text(reduced())
    monkeypatch.setattr(endpoints, "FILE", file)
    # Tests of other files may have left moto on, which would answer first.
    monkeypatch.setattr("moto.core.models.botocore_stubber.enabled", False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return file


class Empty:
    """An answer without fields: S3 speaks XML, and the others JSON."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def stream(self) -> list[bytes]:
        return [self._text]


def goes_to(client: Any, call: str) -> tuple[str, str]:
    """Returns the URL, and the region and service for which the request is signed."""
    seen = []

    def answer(request: Any, **_: Any) -> AWSResponse:
        seen.append(request)
        body = Empty(b"<a/>" if call == CALLS["s3"] else b"{}")
        return AWSResponse(request.url, 200, {}, body)  # type: ignore[arg-type]

    client.meta.events.register("before-send", answer)
    with suppress(ResponseParserError):  # SNS answers with XML
        getattr(client, call)(**ARGUMENTS.get(call, {}))
    scope = re.search(r"Credential=\w+/\d+/(\S+),", seen[0].headers["Authorization"].decode())
    assert scope is not None
    return seen[0].url, scope[1]


@pytest.mark.parametrize("variant", ["", "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"])
@pytest.mark.parametrize(
    "region",
    [*REGIONS[:2], *(pytest.param(other, marks=pytest.mark.long) for other in REGIONS[2:])],
)
@pytest.mark.parametrize("service", endpoints.SERVICES)
def test_requests_go_to_the_endpoints_of_botocore(
    service: str, region: str, variant: str, monkeypatch: pytest.MonkeyPatch
):
    if (service, region, variant) == ("s3", "cn-north-1", "AWS_USE_FIPS_ENDPOINT"):
        pytest.skip("S3 has no FIPS endpoints in China, and botocore refuses to make one up")
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    if variant:
        monkeypatch.setenv(variant, "true")
    session = get_session()
    session.register_component("data_loader", LOADER)
    plain = session.create_client(service)
    assert goes_to(MAKERS[service](), CALLS[service]) == goes_to(plain, CALLS[service])


def test_a_client_reads_the_bundled_endpoints(in_a_bundle: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    in_a_bundle.write_text("no JSON")
    with pytest.raises(ValueError, match="Expecting value"):
        clients.sqs()
