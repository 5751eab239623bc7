"""ARNs: the names of AWS resources, as targets and stages give them."""

import re
from collections.abc import Mapping
from typing import Final

from duetime.core.value import value

_PLACE = r"[a-z]{2}(?:-[a-z]+)+-\d:\d{12}"  # region and account
_PREFIXES: Final[Mapping[str, str]] = {
    "dynamodb": rf"dynamodb:{_PLACE}:table/",
    "eventbridge": rf"events:{_PLACE}:event-bus/",
    "lambda": rf"lambda:{_PLACE}:function:",
    "sns": rf"sns:{_PLACE}:",
    "sqs": rf"sqs:{_PLACE}:",
    "stepfunctions": rf"states:{_PLACE}:stateMachine:",
}
_NAMES: Final[Mapping[str, str]] = {
    "dynamodb": r"[\w.-]{3,255}",
    "eventbridge": r"[\w./-]{1,256}",
    "lambda": r"[\w-]{1,64}(?::(?:\$LATEST|[\w-]{1,128}))?",
    "sns": r"[\w-]{1,256}(?:\.fifo)?",
    "sqs": r"[\w-]{1,80}(?:\.fifo)?",
    "stepfunctions": r"[\w-]{1,80}(?::[\w.-]{1,80})?",
}
EXAMPLES: Final[Mapping[str, str]] = {
    "dynamodb": "arn:aws:dynamodb:eu-west-1:123456789012:table/orders",
    "eventbridge": "arn:aws:events:eu-west-1:123456789012:event-bus/default",
    "lambda": "arn:aws:lambda:eu-west-1:123456789012:function:resize",
    "sns": "arn:aws:sns:eu-west-1:123456789012:alerts",
    "sqs": "arn:aws:sqs:eu-west-1:123456789012:orders",
    "stepfunctions": "arn:aws:states:eu-west-1:123456789012:stateMachine:checkout",
}


@value(frozen=True, kw_only=True, slots=True)
class Arn:
    partition: str
    region: str
    account: str
    resource: str  # everything behind the account, such as table/orders

    @property
    def name(self) -> str:
        """The last part of the resource: the name of a queue, a topic or a table."""
        return re.split("[/:]", self.resource, maxsplit=1)[-1]


def parse_arn(text: str) -> Arn:
    """Splits an ARN that `is_arn_of` has accepted."""
    _, partition, _, region, account, resource = text.split(":", 5)
    return Arn(partition=partition, region=region, account=account, resource=resource)


def pattern_of(target_type: str) -> str:
    return rf"arn:aws[a-z-]*:{_PREFIXES[target_type]}{_NAMES[target_type]}"


def is_arn_of(target_type: str, text: str) -> bool:
    """Whether a text is the whole ARN of a resource that targets of this type name."""
    pattern = pattern_of(target_type)
    return re.fullmatch(pattern, text, re.ASCII) is not None


def is_arn_pattern_of(target_type: str, text: str) -> bool:
    """The same for an ARN whose name may have `*` in it, for any characters."""
    pattern = rf"arn:aws[a-z-]*:{_PREFIXES[target_type]}[\w.*:$/-]+"
    return re.fullmatch(pattern, text, re.ASCII) is not None
