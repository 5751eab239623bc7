"""botocore's endpoint data, reduced to the services that Duetime calls.

botocore reads a megabyte, every service in every region, to make its first client: a fifth of a
function's cold start. A bundle carries only the services it needs, in botocore's own format. A
source tree has no such file, and botocore reads its own.
"""

from pathlib import Path
from typing import Any

from botocore.loaders import Loader

# The services of the backend come first, then those of targets. The latter need no endpoint data:
# each has rules of its own in botocore.
SERVICES = (
    *("dynamodb", "dynamodbstreams", "lambda", "s3", "sqs", "ssm"),
    *("events", "rds-data", "sesv2", "sns", "stepfunctions"),
    "apigatewaymanagementapi",  # always called at the address of one API
)
FILE = Path(__file__).with_name("data") / "endpoints.json"

# endpoint prefixes of the services of the backend
_PREFIXES = ("dynamodb", "streams.dynamodb", "lambda", "s3", "sqs", "ssm")


def our_endpoints() -> dict[str, Any]:
    every = Loader().load_data("endpoints")
    return {**every, "partitions": [_ours(partition) for partition in every["partitions"]]}


def _ours(partition: dict[str, Any]) -> dict[str, Any]:
    services = partition["services"].items()
    return {**partition, "services": {name: data for name, data in services if name in _PREFIXES}}


class OurServices(Loader):
    """Loads the reduced endpoint data and lists our services without a search.

    botocore's own loader would walk the folders of every AWS service, about a thousand files,
    to find that ours is among them."""

    def __init__(self) -> None:
        super().__init__(extra_search_paths=[str(FILE.parent)])

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002
        return list(SERVICES)

    def is_builtin_path(self, path: str) -> bool:
        """Counts our file as botocore's own. Otherwise botocore would not apply its own rules for
        endpoints, such as those for FIPS."""
        return Path(path).parent == FILE.parent or super().is_builtin_path(path)
