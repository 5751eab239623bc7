"""Start a function once more, without waiting for it."""

from lambdas.aws.clients import functions, reached
from lambdas.core.codec import to_json


def invoke_later(function_arn: str, event: object) -> None:
    with reached():
        functions().invoke(
            FunctionName=function_arn, InvocationType="Event", Payload=to_json(event).encode()
        )
