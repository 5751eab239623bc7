"""The page about workflows: its commands, requests and code work as they are printed."""

from pathlib import Path

from tests.docs.page import files_first
from tests.docs.reader import Reader

PAGE = "how-to/workflows.md"


def test_page_works_as_it_is_printed(reader: Reader) -> None:
    reader.read(files_first(PAGE))

    assert reader.failed == {}
    client = reader.names["client"]
    versions = {workflow["name"]: workflow["version"] for workflow in client.workflows.list()}
    assert versions == dict.fromkeys(["order", "branch", "parcels", "tidy", "approval"], 1)
    statuses = [run["status"] for run in client.runs.list()]
    assert sorted(set(statuses)) == ["CANCELLED", "SUCCEEDED"]
    assert "ask  WAITING" in reader.output["duetime runs show ID"]
    assert 'result: "shipped: Ada"' in reader.output["duetime runs watch ID"]
    assert Path("notes.txt").read_text() == "the run is CANCELLED"
    [nightly] = client.schedules.list()
    assert nightly["task"]["target"]["workflow"] == "order"
