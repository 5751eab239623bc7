"""What people do with the console, from the first click to what the API says at the end."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Response, expect

from tests.console.conftest import HANDLERS
from tests.running import Runner, free_port, running, until

DEAD_ONE = {"max_attempts": 1}


def region(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def restock(runner: Runner, missing: Path, shelf: int, **fields: object) -> str:
    return runner.submit(
        target={"type": "python", "handler": "shop.restock"},
        payload={"missing": str(missing), "item": "salt", "shelf": shelf},
        retry=DEAD_ONE,
        **fields,
    )


def test_task_is_submitted_and_watched_until_it_succeeds(page: Page, runner: Runner):
    page.goto("/")
    page.get_by_role("link", name="New task").click()
    page.get_by_label("Handler").fill("shop.greet")
    page.get_by_label("Payload, JSON").fill('{"name": "Ada", "order": 12345678901234567890}')
    expect(region(page, "The same call")).to_contain_text("12345678901234567890")
    page.get_by_label("When").select_option("delay")
    page.get_by_label("Delay, seconds").fill("1")
    page.get_by_role("button", name="Submit", exact=True).click()

    expect(page).to_have_url(re.compile("/tasks/[0-9A-Z]{26}$"))
    expect(page.locator(".page-head .status")).to_have_text("Succeeded")
    expect(region(page, "Result")).to_contain_text("Hello, Ada!")
    expect(region(page, "Result")).to_contain_text("12345678901234567890")
    assert runner.task(page.url[-26:])["status"] == "SUCCEEDED"


def test_new_task_appears_in_a_list_that_is_open(page: Page, runner: Runner):
    page.goto("/tasks?ns=live")
    expect(page.get_by_text("No task matches")).to_be_visible()

    task_id = runner.submit(
        target={"type": "python", "handler": "shop.greet"},
        payload={"name": "Ada"},
        namespace="live",
    )

    row = page.locator(f'[data-key="{task_id}"]')
    expect(row.locator(".status")).to_have_text("Succeeded")


def test_cause_of_dead_tasks_is_found_fixed_and_retried(page: Page, runner: Runner, tmp_path: Path):
    missing = tmp_path / "missing"
    missing.touch()
    ids = [restock(runner, missing, shelf, namespace="causes") for shelf in range(12)]
    until(lambda: all(runner.task(task_id)["status"] == "DEAD" for task_id in ids))

    page.goto("/?ns=causes")
    expect(page.locator(".answer", has_text="12 dead")).to_be_visible()
    region(page, "Failing now").get_by_role("link", name="ValueError").click()
    cause = page.locator(".cause")
    expect(cause).to_have_count(1)
    expect(cause.locator(".cause-tasks li")).to_have_count(12)
    page.get_by_role("link", name="Open one").click()
    expect(region(page, "Error")).to_contain_text("no such item 'salt'")
    expect(region(page, "Error")).to_contain_text("shop.py")
    missing.unlink()
    page.go_back()
    cause.get_by_role("button", name="Retry 12").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A dry run has counted 12.")
    dialog.get_by_role("button", name="Retry 12").click()
    expect(dialog).to_contain_text("12 of 12 retried.")
    dialog.get_by_role("button", name="Close").click()

    expect(page.get_by_text("No dead tasks")).to_be_visible()
    until(lambda: all(runner.task(task_id)["status"] == "SUCCEEDED" for task_id in ids))


def test_running_task_is_cancelled(page: Page, runner: Runner):
    task_id = runner.submit(
        target={"type": "python", "handler": "shop.inventory"}, retry=DEAD_ONE, name="inventory"
    )
    page.goto(f"/tasks/{task_id}")
    expect(page.locator(".progress")).to_contain_text("page")
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("asked to stop")
    dialog.get_by_role("button", name="Cancel the task").click()

    expect(page.locator(".page-head .status")).to_have_text("Cancelled")
    assert runner.task(task_id)["status"] == "CANCELLED"


def test_filter_is_cancelled_stopped_half_way_and_continued(page: Page, runner: Runner):
    body = {
        "target": {"type": "python", "handler": "shop.greet"},
        "payload": {},
        "delay": 86_400,
        "namespace": "bulk",
        "tags": {"team": "growth"},
    }
    runner.submit_many([body] * 1_204)
    dry_runs: list[Response] = []
    page.on("response", lambda answer: _is_dry_run(answer) and dry_runs.append(answer))
    page.goto("/tasks?ns=bulk&tag=team:growth")
    page.get_by_role("button", name="Cancel …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A dry run has counted 1,204.")
    counts = [answer.json()["matched"] for answer in dry_runs]
    assert counts == [1_000, 204]  # a call counts up to 1,000

    def first_call(route):  # Stop is clicked while the first call is under way
        dialog.get_by_role("button", name="Stop").click()
        route.continue_()

    page.route("**/v1/tasks/cancel", first_call, times=1)
    dialog.get_by_role("button", name="Cancel 1,204").click()
    expect(dialog).to_contain_text("Stopped: 250 of 1,204 cancelled.")
    assert len(bulk_ids(runner, "CANCELLED")) == 250
    dialog.get_by_role("button", name="Continue with 954").click()
    expect(dialog).to_contain_text("1,204 of 1,204 cancelled.")

    assert len(bulk_ids(runner, "CANCELLED")) == 1_204
    assert bulk_ids(runner, "PENDING") == []


def _is_dry_run(answer: Response) -> bool:
    body: dict[str, Any] = answer.request.post_data_json or {}
    return answer.url.endswith("/tasks/cancel") and bool(body.get("dry_run"))


def bulk_ids(runner: Runner, status: str) -> list[str]:
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        query = {"namespace": "bulk", "status": status, "limit": "100", **cursor}
        answer = runner.api.get("/tasks", params=query).json()
        found += [task["id"] for task in answer["items"]]
        if answer["next_cursor"] is None:
            return found
        cursor = {"cursor": answer["next_cursor"]}


def test_rows_are_selected_by_key_and_retried(page: Page, runner: Runner, tmp_path: Path):
    missing = tmp_path / "missing"
    missing.touch()
    ids = [restock(runner, missing, shelf, namespace="keys") for shelf in range(3)]
    until(lambda: all(runner.task(task_id)["status"] == "DEAD" for task_id in ids))
    page.goto("/tasks?ns=keys")
    expect(page.locator("[data-key]")).to_have_count(3)
    for key in ("j", "x", "j", "j", "X"):
        page.keyboard.press(key)
    expect(page.locator(".bulk")).to_contain_text("3 selected")
    missing.unlink()
    page.get_by_role("button", name="Retry 3").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry 3").click()
    expect(page.get_by_role("dialog")).to_contain_text("3 of 3 retried.")

    until(lambda: all(runner.task(task_id)["status"] == "SUCCEEDED" for task_id in ids))


def test_waiting_task_is_changed_and_run_now(page: Page, runner: Runner):
    task_id = runner.submit(
        target={"type": "python", "handler": "shop.greet"}, payload={"name": "Ada"}, delay=86_400
    )
    page.goto(f"/tasks/{task_id}")
    expect(page.locator(".page-head .status")).to_have_text("Pending")
    page.keyboard.press("e")
    page.get_by_role("dialog").get_by_label("Priority").select_option("high")
    page.get_by_role("dialog").get_by_role("button", name="Change", exact=True).click()
    expect(region(page, "Details")).to_contain_text("high")
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run now").click()

    expect(page.locator(".page-head .status")).to_have_text("Succeeded")
    assert runner.task(task_id)["priority"] == "high"


def test_task_is_edited_and_submitted_again(page: Page, runner: Runner):
    task_id = runner.submit(
        target={"type": "python", "handler": "shop.greet"},
        payload={"name": "Ada", "order": 9_223_372_036_854_775_808},
        tags={"team": "growth"},
    )
    page.goto(f"/tasks/{task_id}")
    page.get_by_role("link", name="Edit and submit again").click()
    payload = page.get_by_label("Payload, JSON")
    expect(payload).to_have_value(re.compile("9223372036854775808"))
    payload.fill(payload.input_value().replace("Ada", "Grace"))
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(region(page, "Result")).to_contain_text("Hello, Grace!")

    again = runner.task(page.url[-26:])
    assert (again["payload"]["order"], again["tags"]) == (2**63, {"team": "growth"})


def test_task_that_is_submitted_again_keeps_its_expiry_jitter_unique_key_and_delays(
    page: Page, runner: Runner
):
    kept: dict[str, Any] = {
        "retry": {
            "max_attempts": 3,
            "base_delay": 2.5,
            "multiplier": 1.5,
            "max_delay": 60,
            "jitter": 0,
        },
        "jitter": 0.25,
        "expires_at": "2031-02-03T04:05:06.789Z",
        "unique": {"key": "mail-7", "while": "pending", "on_conflict": "replace"},
    }
    target = {"type": "python", "handler": "shop.greet"}
    task_id = runner.submit(target=target, payload={"name": "Ada"}, **kept)
    page.goto(f"/tasks/{task_id}")
    page.get_by_role("link", name="Edit and submit again").click()
    expect(page.get_by_label("Unique key")).to_have_value("mail-7")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page).not_to_have_url(re.compile(f"{task_id}|new"))

    again = runner.task(page.url[-26:])
    assert {name: again[name] for name in kept} == kept


def test_refused_submission_names_the_field(page: Page):
    page.goto("/new?handler=shop.gret")
    page.get_by_role("button", name="Submit", exact=True).click()

    expect(page.get_by_label("Handler")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("shop.greet")


def test_overview_reads_no_more_than_it_shows(page: Page):
    reads: list[str] = []
    page.on("request", lambda request: "/v1/" in request.url and reads.append(request.url))
    page.goto("/")
    expect(page.locator(".live")).to_have_text("Live")
    expect(page.locator(".loading")).to_have_count(0)

    paths = {url.partition("/v1/")[2].partition("?")[0] for url in reads}
    assert len(paths - {"me", "live/tickets"}) <= 6


@pytest.mark.parametrize("typed", ["{'name': 1}", '{"name": 1'])
def test_payload_that_is_not_json_is_marked_before_it_is_sent(page: Page, typed: str):
    page.goto("/new?handler=shop.greet")
    page.get_by_label("Payload, JSON").fill(typed)

    expect(page.locator(".field .error")).to_contain_text("Not JSON")
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()


def open_more(page: Page) -> None:
    page.goto("/new?handler=shop.greet")
    page.locator("summary", has_text="More").click()


def test_task_is_submitted_with_its_limits_and_keys(page: Page, runner: Runner):
    runner.api.put("/limits/stripe", json={"concurrency": 2})
    runner.api.put("/limits/mails", json={"rate": {"count": 50, "period": 1}})
    open_more(page)
    expect(page.get_by_label("Pool")).to_have_count(0)  # this runner has none
    expect(page.locator("datalist#limits option")).to_have_count(2)
    page.get_by_label("Payload, JSON").fill('{"name": "Ada"}')
    page.get_by_label("Limit", exact=True).fill("stripe")
    page.get_by_label("Key of the limit", exact=True).fill("acct-7")
    page.get_by_label("Second limit", exact=True).fill("mails")
    page.get_by_label("Ordering key").fill("order-1")
    page.get_by_label("If it dies").select_option("those behind it wait")
    page.get_by_label("Fairness key").fill("growth")
    call = region(page, "The same call")
    expect(call).to_contain_text('"limits": [{"name":"stripe","key":"acct-7"},{"name":"mails"}]')
    call.get_by_role("tab", name="Python").click()
    expect(call).to_contain_text('limits=[{"name": "stripe", "key": "acct-7"}, {"name": "mails"}]')
    expect(call).to_contain_text('ordering_key="order-1"')
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator(".page-head .status")).to_have_text("Succeeded")

    first = runner.task(page.url[-26:])
    chosen = ("limits", "ordering_key", "on_dead", "fairness_key")
    assert [first[name] for name in chosen] == [
        [
            {"name": "stripe", "key": "acct-7", "on_full": "queue"},
            {"name": "mails", "key": None, "on_full": "queue"},
        ],
        "order-1",
        "block",
        "growth",
    ]
    page.get_by_role("link", name="Edit and submit again").click()
    expect(page.get_by_label("Second limit", exact=True)).to_have_value("mails")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page).not_to_have_url(re.compile(f"{first['id']}|new"))
    again = runner.task(page.url[-26:])
    assert [again[name] for name in chosen] == [first[name] for name in chosen]


def test_refused_limit_and_keys_are_named_at_their_fields(page: Page):
    open_more(page)
    page.get_by_label("Limit", exact=True).fill("no-such-limit")
    page.get_by_label("Fairness key").fill("one two")
    page.get_by_role("button", name="Submit", exact=True).click()
    fairness = page.get_by_label("Fairness key")
    expect(fairness).to_have_attribute("aria-invalid", "true")
    fairness.fill("one")
    page.get_by_role("button", name="Submit", exact=True).click()

    limit = page.get_by_label("Limit", exact=True)
    expect(limit).to_have_attribute("aria-invalid", "true")
    expect(limit).to_have_accessible_description(re.compile("there is no limit 'no-such-limit'"))
    expect(fairness).not_to_have_attribute("aria-invalid", "true")


def test_task_is_submitted_to_a_pool(context: BrowserContext, tmp_path: Path):
    port = free_port()
    with running(tmp_path, port, "--handlers", str(HANDLERS), "--pool", "batch") as runner:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/new?handler=shop.greet")
        page.locator("summary", has_text="More").click()
        page.get_by_label("Pool").select_option("batch")
        expect(region(page, "The same call")).to_contain_text('"pool": "batch"')
        page.get_by_role("button", name="Submit", exact=True).click()
        expect(page).to_have_url(re.compile("/tasks/[0-9A-Z]{26}$"))

        assert runner.task(page.url[-26:])["pool"] == "batch"
        page.close()
