"""Runs of workflows in the console."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from duetime.testing import World
from tests.console.in_a_world.handlers import failing

ETL = ("extract", "resize", "index", "publish")


def step(name: str, *needs: str, **more: object) -> dict[str, object]:
    target = {"type": "python", "handler": "shop.work"}
    return {"name": name, "target": target, "payload": name, "needs": [*needs], **more}


def etl(w: World, **more: object) -> str:
    steps = [
        step("extract"),
        step("resize", "extract"),
        step("index", "extract"),
        step("publish", "resize", "index"),
        step("clean-up", finally_=True),
    ]
    steps[-1]["finally"] = steps[-1].pop("finally_")
    w.client.workflows.put("etl", steps=steps)
    return str(w.client.runs.submit(workflow="etl", input={"big": 2**63}, **more)["id"])


def test_failed_run_is_retried_from_its_failed_step(
    w: World, context: BrowserContext, page: Page
) -> None:
    failing.add("index")
    run = etl(w)
    w.drain()
    page.goto("/runs")
    page.get_by_role("row", name=re.compile("Failed")).get_by_role("link").click()
    graph = page.get_by_role("group", name="Steps of etl")
    expect(graph.get_by_role("link")).to_have_count(5)
    expect(graph.get_by_role("link", name="publish")).to_contain_text("Skipped")
    note = page.get_by_role("listitem").filter(has_text="Not run for it")
    expect(note).to_contain_text("PermanentError: index is broken")
    expect(note).to_contain_text("Not run for it: publish")

    note.get_by_role("link", name="index").click()
    page.get_by_role("button", name="Retry from here…").click()
    dialog = page.get_by_role("dialog", name="Retry from index?")
    expect(dialog).to_contain_text("2 steps will run: index, publish")
    failing.clear()
    dialog.get_by_role("button", name="Retry", exact=True).click()
    expect(page.get_by_text("Retried")).to_be_visible()
    w.drain()
    page.reload()
    expect(graph.get_by_role("link", name="index")).to_contain_text("attempt 2")
    for name in ETL:
        expect(graph.get_by_role("link", name=name)).to_contain_text("Succeeded")
    assert w.client.runs.get(run)["status"] == "SUCCEEDED"
    expect(page.get_by_text(str(2**63))).to_be_visible()


def test_run_says_which_step_holds_up_the_rest_and_is_cancelled(
    w: World, context: BrowserContext, page: Page
) -> None:
    slow = [step("first"), step("late", "first", delay=3_600), step("last", "late")]
    run = str(w.client.runs.submit(steps=slow)["id"])
    w.advance("1m")
    context.clock.set_fixed_time(w.now)
    page.goto(f"/runs/{run}?view=list")
    expect(page.get_by_text("late is pending. Waiting for it: last")).to_be_visible()
    steps = page.get_by_role("list", name=f"Steps of {run}").get_by_role("listitem")
    expect(steps).to_have_text(
        [re.compile("^ *first"), re.compile("^ *late"), re.compile("last.*waits for late")]
    )
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.get_by_text("Cancelling", exact=True).first).to_be_visible()
    w.advance("1m")
    page.reload()
    expect(page.get_by_role("button", name="Cancel…")).to_have_count(0)
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()


def test_items_of_a_map_are_read_page_by_page(w: World, page: Page) -> None:
    items = {"items": list(range(60)), "max_concurrency": 60}
    run = str(w.client.runs.submit(steps=[step("each", map=items)])["id"])
    w.drain()
    page.goto(f"/runs/{run}?step=each")
    rows = page.get_by_role("table", name="Items of each").locator("tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(60)
    expect(rows.nth(59)).to_contain_text(re.compile("^59.*Succeeded"))


def test_workflow_is_shown_as_a_graph_and_started(w: World, page: Page) -> None:
    etl(w)
    page.goto("/workflows")
    page.get_by_role("link", name="etl", exact=True).click()
    expect(page.get_by_role("group", name="Steps of etl").get_by_role("link")).to_have_count(5)
    page.get_by_role("button", name="Start a run…").click()
    page.get_by_label("Input, as JSON").fill('{"n": 9223372036854775808}')
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/runs/*")
    expect(page.get_by_text("9223372036854775808")).to_be_visible()
    assert len(list(w.client.runs.list())) == 2


def test_graph_of_a_hundred_steps_is_placed(w: World, page: Page) -> None:
    steps = [step("root"), *(step(f"s{number}", "root") for number in range(99))]
    run = str(w.client.runs.submit(steps=steps)["id"])
    page.goto(f"/runs/{run}")
    expect(page.get_by_role("group", name=f"Steps of {run}").get_by_role("link")).to_have_count(100)
