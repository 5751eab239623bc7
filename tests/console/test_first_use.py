"""What somebody meets who opens the console for the first time."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.running import Runner, until

GREET = {"type": "python", "handler": "shop.greet"}


def dead_task(runner: Runner, missing: Path, **fields: object) -> str:
    missing.touch()
    task_id = runner.submit(
        target={"type": "python", "handler": "shop.restock"},
        payload={"missing": str(missing), "item": "salt", "shelf": 1},
        retry={"max_attempts": 1},
        **fields,
    )
    until(lambda: runner.task(task_id)["status"] == "DEAD")
    return task_id


def test_coming_runs_of_a_schedule_do_not_hide_the_tasks_of_today(page: Page, runner: Runner):
    schedule = {
        "rule": {"type": "rate", "every": 30},
        "task": {"target": GREET, "payload": {"name": "Ada"}, "namespace": "first"},
    }
    runner.api.post("/schedules", json=schedule).raise_for_status()
    task_id = runner.submit(target=GREET, payload={"name": "Ada"}, namespace="first")
    coming = {"namespace": "first", "status": "PENDING,ENQUEUED"}
    until(lambda: len(runner.api.get("/tasks", params=coming).json()["items"]) > 0)

    page.goto("/tasks?ns=first")
    rows = page.locator("tr[data-key]")
    expect(rows).to_have_count(1)
    expect(rows).to_have_attribute("data-key", task_id)
    page.get_by_role("link", name="To start").click()
    expect(page.locator(f'[data-key="{task_id}"]')).to_have_count(0)
    expect(rows).not_to_have_count(0)


def test_attempts_of_a_redriven_task_are_not_more_than_all(
    page: Page, runner: Runner, tmp_path: Path
):
    task_id = dead_task(runner, tmp_path / "missing", namespace="redriven")
    runner.api.post(f"/tasks/{task_id}/retry").raise_for_status()
    until(lambda: runner.task(task_id)["attempt"] == 2 and runner.task(task_id)["status"] == "DEAD")

    page.goto("/tasks?ns=redriven")
    expect(page.locator(f'[data-key="{task_id}"] [data-label="Attempt"]')).to_have_text("2")
    page.goto(f"/tasks/{task_id}")
    expect(page.get_by_role("region", name="Timeline")).to_contain_text(": attempt 2.")
    expect(page.get_by_role("region", name="Details")).to_contain_text("1 attempt,")


def test_question_is_answered_with_enter(page: Page, runner: Runner, tmp_path: Path):
    task_id = dead_task(runner, tmp_path / "missing", namespace="asked")
    (tmp_path / "missing").unlink()
    page.goto(f"/tasks/{task_id}")
    page.get_by_role("button", name="Retry", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Retry")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator(".page-head .status")).to_have_text("Succeeded")


def test_filter_that_is_not_understood_has_no_actions_on_all_that_match(page: Page):
    page.goto("/tasks?status=DEAD")
    actions = page.get_by_text("All that match")
    expect(actions).to_be_visible()
    field = page.get_by_label("Filter tasks")
    field.fill("status:DEAD nmae:salt")
    expect(page.get_by_text("means nothing here")).to_be_visible()
    expect(actions).to_have_count(0)
    field.fill("status:DEAD salt")
    expect(actions).to_be_visible()


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("since:yesterday", "Write since:24h, or since:2026-11-17T09:00Z"),
        ("since:2026-11-17", "Write since:24h"),
        ("due:soon", "Write due:1h"),
        ("status:LATE", "Statuses: PENDING, ENQUEUED"),
        ("colour:red", "Words: status, handler"),
    ],
)
def test_filter_that_is_not_understood_says_what_to_write(page: Page, typed: str, hint: str):
    page.goto("/tasks")
    page.get_by_label("Filter tasks").fill(typed)
    expect(page.get_by_text(f"{typed} means nothing here. {hint}")).to_be_visible()


def test_words_about_the_state_of_tasks_filter_the_list(page: Page, runner: Runner):
    ids = {
        lane: runner.submit(
            target={"type": "python", "handler": "duetime.hello"},
            delay=3_600 * (place + 1),
            priority=lane,
            namespace="state",
            idempotency_key=f"state-{lane}",
        )
        for place, lane in enumerate(("high", "low"))
    }
    page.goto("/tasks?ns=state")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    field = page.get_by_label("Filter tasks")
    for text, lane in (
        ("lane:low", "low"),
        ("key:state-high", "high"),
        ("due:90m", "high"),
        ("due:90m..3h", "low"),
    ):
        field.fill(text)
        expect(rows).to_have_count(1)
        expect(rows.locator(f"a[href*='{ids[lane]}']").first).to_be_visible()
    field.fill("error:Http503")
    expect(page.get_by_text("No task matches")).to_be_visible()


def test_words_are_not_broken(page: Page, runner: Runner, tmp_path: Path):
    name = "a name that takes all the width there is " * 4
    dead_task(runner, tmp_path / "missing", namespace="words", name=name.strip())
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/tasks?ns=words")
    lane = page.locator('tr[data-key] [data-label="Lane"]')
    expect(lane).to_have_text("medium")
    assert lines(page, '[data-label="Lane"]') == 1

    page.evaluate("document.querySelector('.live').append(' no connection as of 22:08:57')")
    assert lines(page, 'nav[aria-label="Pages"] a') == 1


def lines(page: Page, selector: str) -> int:
    return int(
        page.locator(selector).first.evaluate(
            """(node) => {
                const range = document.createRange();
                range.selectNodeContents(node);
                return new Set([...range.getClientRects()].map(({ top }) => top)).size;
            }"""
        )
    )
