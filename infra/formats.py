"""Types for the strings in cdk.json that have a format, with their error messages."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from duetime.core.arns import EXAMPLES, is_arn_pattern_of
from duetime.executor.targets.address_policy import parse_allowed


def _matching(pattern: str, what: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{text!r} is not {what}")
        return text

    return AfterValidator(check)


Email = Annotated[str, _matching(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address")]
Https = Annotated[str, _matching(r"https://[^\s/]+\S*", "an https address")]
OtelVariable = Annotated[str, _matching(r"OTEL_[A-Z0-9_]+", "a variable such as OTEL_SERVICE_NAME")]
Origin = Annotated[str, _matching(r"https?://[^\s/]+|\*", "an origin such as https://example.com")]
Host = Annotated[str, _matching(r"([a-z0-9-]+\.)+[a-z]{2,}", "a domain name")]
Certificate = Annotated[
    str, _matching(r"arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate/\S+", "the ARN of a certificate")
]
StreamArn = Annotated[
    str,
    _matching(
        r"arn:aws[\w-]*:dynamodb:[\w-]+:\d{12}:table/[\w.-]+/stream/\S+",
        "the ARN of a table's stream",
    ),
]
Bucket = Annotated[str, _matching(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "the name of a bucket")]
Scope = Annotated[str, _matching(r"[\x21\x23-\x5b\x5d-\x7e]+", "an OAuth scope")]


SecretName = Annotated[
    str, _matching(r"[A-Za-z0-9._-]{1,64}", "a name of 1 to 64 letters, digits and ._-")
]


def _allowed(text: str) -> str:
    parse_allowed(text)
    return text


AllowedHost = Annotated[str, AfterValidator(_allowed)]

Action = Annotated[str, _matching(r"\*|[\w-]+:[\w*?-]+", "an action such as s3:GetObject")]

Sender = Annotated[
    str,
    _matching(r"(\*|[^@\s*]+)@([A-Za-z0-9-]+\.)+[A-Za-z0-9-]+", "a@example.com or *@example.com"),
]
Cluster = Annotated[
    str, _matching(r"arn:aws[\w-]*:rds:[\w-]+:\d{12}:cluster:[\w-]+", "the ARN of a cluster")
]
Secret = Annotated[
    str,
    _matching(
        r"arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:[\w/+=.@-]+", "the ARN of a secret"
    ),
]
Word = Annotated[str, _matching(r"[\w.:-]{1,128}", "a name of letters, digits and ._:-")]


def _bucket(given: Any) -> Any:
    named = isinstance(given, str) and re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", given)
    if not isinstance(given, bool) and not named:
        raise ValueError(f"{given!r} is not true, false or the name of a bucket")
    return given


CreatedOrNamed = Annotated[bool | str, BeforeValidator(_bucket)]  # true: the stack creates a bucket

Image = Annotated[
    str,
    _matching(
        r"[^\s@:]+(:\d+/[^\s@:]+)?(:[\w.-]+|@sha256:[0-9a-f]{64})",
        "the name of an image with its tag, such as registry.example.com/shop-worker:1.4",
    ),
]


def arn_of(target_type: str) -> AfterValidator:
    """An ARN for targets of a type; `*` in its name matches any characters."""

    def check(text: str) -> str:
        if not is_arn_pattern_of(target_type, text):
            raise ValueError(f"{text!r} is not an ARN such as {EXAMPLES[target_type]}")
        return text

    return AfterValidator(check)
