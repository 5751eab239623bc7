"""Start a function once more, without waiting for it."""

from boto3.session import Session

from lambdas.aws.clients import reached
from lambdas.core.codec import to_json


def invoke_later(function_arn: str, event: object, endpoint_url: str | None = None) -> None:
    client = Session().client("lambda", endpoint_url=endpoint_url)
    with reached():
        client.invoke(
            FunctionName=function_arn, InvocationType="Event", Payload=to_json(event).encode()
        )
