"""The checker that the tests of signing rely on, against examples that AWS published."""

from dataclasses import replace

import pytest

from tests.client.sigv4 import Asked, signed_by

SECRETS = {"AKIDEXAMPLE": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}


def example(method: str, target: str, service: str, signature: str, **headers: str) -> Asked:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given["x-amz-date"] = "20150830T123600Z"
    proof = (
        f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, "
        f"SignedHeaders={';'.join(sorted(given))}, Signature={signature}"
    )
    return Asked(method=method, target=target, headers={**given, "authorization": proof}, body=b"")


# The first is of the manual (signing a request of IAM), the others are of the test suite.
LIST_USERS = example(
    "GET",
    "/?Action=ListUsers&Version=2010-05-08",
    "iam",
    "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
    host="iam.amazonaws.com",
    content_type="application/x-www-form-urlencoded; charset=utf-8",
)
VANILLA = example(
    "GET",
    "/",
    "service",
    "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    host="example.amazonaws.com",
)
QUERY_ORDER = example(
    "GET",
    "/?Param2=value2&Param1=value1",
    "service",
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    host="example.amazonaws.com",
)
POST_VANILLA = example(
    "POST",
    "/",
    "service",
    "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    host="example.amazonaws.com",
)


def signer(asked: Asked, *, region: str = "us-east-1", service: str = "iam") -> str | None:
    return signed_by(asked, SECRETS, region=region, service=service)


def test_the_example_of_the_manual() -> None:
    assert signer(LIST_USERS) == "AKIDEXAMPLE"


@pytest.mark.parametrize("asked", [VANILLA, QUERY_ORDER, POST_VANILLA])
def test_the_examples_of_the_test_suite(asked: Asked) -> None:
    assert signer(asked, service="service") == "AKIDEXAMPLE"


def with_header(name: str, value: str) -> Asked:
    return replace(LIST_USERS, headers={**LIST_USERS.headers, name: value})


@pytest.mark.parametrize(
    "asked",
    [
        replace(LIST_USERS, method="POST"),
        replace(LIST_USERS, target="/x?Action=ListUsers&Version=2010-05-08"),
        replace(LIST_USERS, target="/?Action=DropUsers&Version=2010-05-08"),
        replace(LIST_USERS, target="/?Action=ListUsers"),
        replace(LIST_USERS, body=b"x"),
        with_header("host", "elsewhere.test"),
        with_header("content-type", "text/plain"),
        with_header("x-amz-date", "20150830T123601Z"),
        with_header("x-amz-security-token", "not signed"),
        with_header("authorization", "Bearer x"),
        with_header("authorization", LIST_USERS.headers["authorization"].replace("5d67", "5d68")),
        with_header("authorization", LIST_USERS.headers["authorization"].replace("AKID", "AKIE")),
    ],
)
def test_tampered_request_is_refused(asked: Asked) -> None:
    assert signer(asked) is None


def test_a_signature_is_for_one_region_and_one_service() -> None:
    assert signer(LIST_USERS, region="eu-central-1") is None
    assert signer(LIST_USERS, service="execute-api") is None
