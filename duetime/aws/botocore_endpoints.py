"""botocore's list of endpoints, cut down to our services.

botocore reads a megabyte, every service in every region, to make its first client: a fifth of a
function's cold start. So a bundle carries the few that are ours, in botocore's own words. Beside a
source tree there is no such file, and botocore reads its own.
"""

from pathlib import Path
from typing import Any

from botocore.loaders import Loader

SERVICES = ("dynamodb", "dynamodbstreams", "lambda", "sqs")
FILE = Path(__file__).with_name("data") / "endpoints.json"

_PREFIXES = ("dynamodb", "streams.dynamodb", "lambda", "sqs")  # how an endpoint begins


def our_endpoints() -> dict[str, Any]:
    every = Loader().load_data("endpoints")
    return {**every, "partitions": [_ours(partition) for partition in every["partitions"]]}


def _ours(partition: dict[str, Any]) -> dict[str, Any]:
    services = partition["services"].items()
    return {**partition, "services": {name: told for name, told in services if name in _PREFIXES}}


class OurServices(Loader):
    """botocore would also look through the folders of all of AWS's services, some thousand files,
    only to learn that ours is among them."""

    def __init__(self) -> None:
        super().__init__(extra_search_paths=[str(FILE.parent)])

    def list_available_services(self, type_name: str) -> list[str]:  # noqa: ARG002
        return list(SERVICES)

    def is_builtin_path(self, path: str) -> bool:
        """Ours is a part of botocore's own; else it would no longer follow its own rules of how
        an endpoint is found, such as those for FIPS."""
        return Path(path).parent == FILE.parent or super().is_builtin_path(path)
