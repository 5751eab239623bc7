"""The pages for people who come from another system: the same example, here and there."""

import json
import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from duetime.client import Client
from duetime.core.times import MINUTE
from tests.docs.page import DOCS, Block, blocks
from tests.docs.reader import Reader
from tests.world import World

BERLIN = ZoneInfo("Europe/Berlin")
REMINDERS = {
    "celery": "Celery",
    "bullmq": "BullMQ",
    "temporal": "Temporal",
    "eventbridge-scheduler": "EventBridge Scheduler",
}
PAGES = {**REMINDERS, "airflow": "Airflow", "step-functions": "Step Functions"}
RUNS = {  # of the workflow sections: the name, and the result
    "celery": ("pictures", 3),
    "temporal": ("fulfil", "shipped: tea reserved, salt reserved, pan reserved"),
    "airflow": ("etl", 120),
    "step-functions": ("order", "shipped: tea packed, salt packed"),
}


def page(name: str) -> list[Block]:
    return list(blocks(f"how-to/coming-from-{name}.md"))


@pytest.mark.parametrize("name", REMINDERS)
def test_page_works_as_it_is_printed(reader: Reader, world: World, name: str) -> None:
    reader.read(page(name))

    assert reader.failed == {}
    with Client() as client:
        [*_, first] = client.list(fields="summary")
        fire_times = [
            datetime.fromisoformat(client.schedules.upcoming(nightly["id"])["fire_times"][0])
            for nightly in client.schedules.list()
        ]
    assert (first["status"], first["max_attempts"]) == ("CANCELLED", 5)  # type: ignore[typeddict-item]
    assert fire_times
    assert {f"{at.astimezone(BERLIN):%H:%M:%S}" for at in fire_times} == {"02:30:00"}


@pytest.mark.parametrize("name", RUNS)
def test_workflow_of_the_page_runs_to_its_result(reader: Reader, name: str) -> None:
    workflow, result = RUNS[name]
    reader.read(page(name))

    assert reader.failed == {}
    with Client() as client:
        [run] = client.runs.list(workflow=workflow)
        found = client.runs.get(run["id"])
    steps = {step["name"]: step["status"] for step in found.get("steps", [])}
    reaction = steps.popitem()  # the last step is for failures
    assert found["status"] == "SUCCEEDED"
    assert reaction[1] == "SKIPPED"
    assert set(steps.values()) == {"SUCCEEDED"}
    last = [step for step in found.get("steps", []) if step["status"] == "SUCCEEDED"][-1]
    with Client() as client:
        assert client.get(str(last["task_id"]))["result"] == result


def test_schedule_of_the_airflow_page_fires_at_half_past_two(reader: Reader) -> None:
    reader.read(page("airflow"))

    assert "02:30:00" in reader.output["duetime schedules upcoming etl"]


def test_run_of_the_step_functions_page_waits_for_its_approval(reader: Reader) -> None:
    reader.read(page("step-functions"))

    assert "approve  WAITING" in reader.output["duetime runs show ID"]


def test_state_machine_of_the_step_functions_page_has_its_states() -> None:
    [other] = [block for block in page("step-functions") if block.of_another_system]
    machine = json.loads(other.text)
    named = {machine["StartAt"], *re.findall(r'"(?:Next|Default)": "([^"]+)"', other.text)}
    assert named == machine["States"].keys()


@pytest.mark.parametrize("name", ["celery", "bullmq", "temporal"])
def test_handlers_of_the_page_run_when_they_are_due(
    reader: Reader, world: World, name: str
) -> None:
    reader.read(block for block in page(name) if block.is_file or "duetime local" in block.text)
    import tasks

    submission = tasks.remind.submit_in("24h", 17, "ada@example.com")
    for _ in range(25 * 60):
        world.advance(MINUTE)
        world.tick()
        world.deliver()

    assert submission.wait() == "reminded ada@example.com of order 17"
    with Client() as client:
        [nightly] = client.schedules.list()
        [made] = [row["task_status"] for row in client.schedules.ledger(nightly["id"])]
    assert made == "SUCCEEDED"


@pytest.mark.parametrize(("name", "title"), PAGES.items())
def test_page_shows_the_other_system_first(name: str, title: str) -> None:
    assert next(iter(page(name))).title == title


@pytest.mark.parametrize("name", PAGES)
def test_page_says_what_is_missing(name: str) -> None:
    text = (DOCS / "how-to" / f"coming-from-{name}.md").read_text()
    assert "## What you give up, for now" in text
    assert re.search(r"console.* (does|do) not\s+exist\s+yet", text)


def test_calls_to_eventbridge_scheduler_are_those_of_its_api() -> None:
    """botocore checks the names and types of all parameters before it sends anything."""
    from botocore.stub import Stubber

    [other] = [block for block in page("eventbridge-scheduler") if block.of_another_system]
    names: dict[str, object] = {}
    exec(other.text, names)
    with Stubber(names["scheduler"]) as stubber:  # type: ignore[arg-type]
        stubber.add_response("create_schedule", {"ScheduleArn": "arn"})
        stubber.add_response("create_schedule", {"ScheduleArn": "arn"})
        stubber.add_response("delete_schedule", {})
        names["ordered"](17, "ada@example.com")  # type: ignore[operator]
        names["set_up"]()  # type: ignore[operator]
        names["paid"](17)  # type: ignore[operator]
        stubber.assert_no_pending_responses()
