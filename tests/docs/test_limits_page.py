"""The page about limits: its commands and its code work, and its tasks are under the limits."""

from tests.docs.page import files_first
from tests.docs.reader import Reader
from tests.world import World

PAGE = "how-to/limits.md"


def test_page_works_as_it_is_printed(reader: Reader, world: World) -> None:
    reader.read(files_first(PAGE))

    assert reader.failed == {}
    client = reader.names["client"]
    limits = {limit["name"]: limit for limit in client.limits.list()}
    assert set(limits) == {"stripe", "account"}
    assert limits["stripe"]["rate"] == {"count": 5, "period": 1.0, "burst": 10}
    assert limits["account"]["concurrency"] == 1
    named = [[use["name"] for use in task["limits"]] for task in client.list()]
    assert sorted(named) == [
        ["nightly-report"],
        ["stripe"],
        ["stripe"],
        ["stripe", "account"],
        ["stripe", "account"],
    ]
    assert "1 passed" in reader.output["pytest -q test_payments.py"]
