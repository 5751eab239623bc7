"""A schedule from the cron builder to its ledger."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from duetime.testing import World

WORK = {"target": {"type": "python", "handler": "shop.work"}}


def daily(w: World, name: str = "daily", **more: object) -> str:
    rule = {"type": "cron", "expression": "30 2 * * *", "timezone": "Europe/Berlin"}
    made = w.client.schedules.create(**{"name": name, "rule": rule, "task": WORK, **more})
    return str(made["id"])


def reload_at(w: World, context: BrowserContext, page: Page) -> None:
    context.clock.set_fixed_time(w.now)
    page.reload()


def test_schedule_of_berlin_is_built_paused_and_resumed_and_the_ledger_says_so(
    w: World, context: BrowserContext, page: Page
) -> None:
    page.goto("/schedules")
    page.get_by_role("link", name="New schedule").click()
    page.get_by_label("hour").fill("02")
    page.get_by_label("minute").fill("30")
    for day in ("Saturday", "Sunday"):
        page.get_by_text(day[:2], exact=True).click()
    expect(page.get_by_label("Cron expression")).to_have_value("30 2 * * *")
    page.get_by_label("Time zone", exact=True).last.fill("Europe/Berlin")
    change = page.get_by_role("listitem").filter(has_text="Sun 28 Mar 2027")
    expect(change).to_contain_text(
        "02:30 does not exist in Europe/Berlin on 2027-03-28; runs at 03:00"
    )
    page.get_by_label("Handler", exact=True).fill("shop.work")
    page.get_by_label("Name", exact=True).fill("daily")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="daily")).to_be_visible()
    expect(page.get_by_text("at 02:30 every day, Europe/Berlin")).to_be_visible()

    page.get_by_role("button", name="Pause…").click()
    page.get_by_label("Note").fill("moving, ada")
    page.get_by_role("button", name="Pause", exact=True).click()
    paused = page.get_by_text(": moving, ada")
    expect(paused).to_have_text("Paused since 09:00:00: moving, ada")
    expect(page.get_by_text("It is paused, and does not fire until it is resumed.")).to_be_visible()
    w.advance("48h")
    reload_at(w, context, page)
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause…")).to_be_visible()

    w.advance("24h")
    reload_at(w, context, page)
    rows = page.get_by_role("table", name="What became of each fire time").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text(re.compile(r"Thu 04 Mar 2027 02:30.*fired"))
    expect(rows.nth(1)).to_contain_text(re.compile(r"Wed 03 Mar 2027 02:30.*paused"))
    expect(rows.nth(2)).to_contain_text(re.compile(r"Tue 02 Mar 2027 02:30.*paused"))
    expect(page.get_by_text("1 fired, 2 paused", exact=True)).to_be_visible()


def test_calendar_has_what_was_what_comes_and_when_the_clock_changes(
    w: World, context: BrowserContext, page: Page
) -> None:
    exclude = [{"type": "dates", "dates": ["2027-03-20"], "timezone": "Europe/Berlin"}]
    schedule = daily(w, exclude=exclude)
    w.advance("48h")
    context.clock.set_fixed_time(w.now)
    page.goto(f"/schedules/{schedule}?view=calendar")
    cells = page.get_by_role("table", name="March 2027").locator("td")
    expect(cells.filter(has_text=re.compile(r"^2 *fired *02:30"))).to_have_count(1)
    expect(cells.filter(has_text=re.compile(r"^4 *to come *02:30"))).to_have_count(1)
    expect(cells.filter(has_text=re.compile(r"^20 *excluded$"))).to_have_count(1)
    changed = cells.filter(has_text="runs at 03:00")
    expect(changed).to_contain_text("the clock goes from 02:00 to 03:00")
    expect(changed).to_contain_text(re.compile("to come *03:00"))
    page.get_by_role("link", name="Next month").click()
    expect(page.get_by_role("table", name="April 2027").get_by_text("02:30")).to_have_count(30)


def test_schedule_is_changed_run_by_hand_backfilled_and_deleted(
    w: World, context: BrowserContext, page: Page
) -> None:
    big = 2**63  # more than a number of JavaScript can hold
    schedule = daily(w, task={**WORK, "payload": {"big": big}})
    w.advance("24h")
    context.clock.set_fixed_time(w.now)
    page.goto(f"/schedules/{schedule}")
    page.get_by_role("link", name="Change").click()
    page.get_by_label("Cron expression").fill("0 7 * * 1-5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("at 07:00, Monday to Friday, Europe/Berlin")).to_be_visible()
    stored = w.client.schedules.get(schedule)
    assert stored["rule"]["expression"] == "0 7 * * 1-5"
    assert stored["task"]["payload"] == {"big": big}

    page.get_by_role("button", name="Backfill…").click()
    page.get_by_label("From").fill("2027-02-25T00:00")
    page.get_by_label("Until").fill("2027-02-27T00:00")
    page.get_by_role("button", name="Backfill", exact=True).click()
    expect(page.get_by_text("2 fire times will run")).to_be_visible()

    page.get_by_role("button", name="Run now…").click()
    page.get_by_role("button", name="Run now", exact=True).click()
    page.wait_for_url("**/tasks/*")
    w.advance("5m")
    context.clock.set_fixed_time(w.now)
    page.goto(f"/schedules/{schedule}?view=history")
    runs = page.get_by_role("table", name="Runs of this schedule").locator("tbody tr")
    expect(runs.filter(has_text="Succeeded")).to_have_count(4)  # of the rule, two again, by hand

    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No schedules")).to_be_visible()


@pytest.mark.parametrize(
    ("control", "value", "expression"),
    [
        ("every few minutes", None, "*/15 * * * *"),
        ("every few hours", None, "0 * * * *"),
        ("every month", None, "0 9 1 * *"),
        ("every year", None, "0 9 1 1 *"),
        ("field by field", ("weekday", "fri#2"), "0 9 * * fri#2"),
    ],
)
def test_controls_of_the_cron_builder_write_the_text(
    page: Page, control: str, value: tuple[str, str] | None, expression: str
) -> None:
    page.goto("/cron?e=0 9 * * 1-5&zone=Europe/Berlin")
    page.get_by_label("Runs", exact=True).select_option(label=control)
    if value:
        page.get_by_label(value[0], exact=True).fill(value[1])
    expect(page.get_by_label("Cron expression")).to_have_value(expression)


def test_cron_builder_says_what_happens_by_default_when_the_clock_changes(page: Page) -> None:
    page.goto("/cron?e=30 2 * * *&zone=Europe/Berlin")
    gap = page.get_by_label("A local time that does not exist")
    twice = page.get_by_label("A local time that comes twice")
    expect(gap.locator("option:checked")).to_have_text("default: run after the gap")
    expect(twice.locator("option:checked")).to_have_text("default: run the first time")

    page.get_by_label("Cron expression").fill("*/15 * * * *")
    expect(gap.locator("option:checked")).to_have_text("default: leave it out")
    expect(twice.locator("option:checked")).to_have_text("default: run both times")

    page.get_by_label("Cron expression").fill("cron(30 2 * * ? *)")
    expect(gap.locator("option:checked")).to_have_text("default of the expression")


def test_text_of_the_cron_builder_sets_the_controls_and_the_url(page: Page) -> None:
    page.goto("/cron?e=0 9 * * 1-5&zone=Europe/Berlin")
    page.get_by_label("Cron expression").fill("15 6 * * fri#L")
    expect(page.get_by_label("Runs", exact=True)).to_have_value("month")
    expect(page.get_by_label("Weekday", exact=True)).to_have_value("5")
    expect(page.get_by_label("hour")).to_have_value("06")
    expect(
        page.get_by_text("at 06:15 on the last Friday of the month, Europe/Berlin")
    ).to_be_visible()
    page.reload()
    expect(page.get_by_label("Cron expression")).to_have_value("15 6 * * fri#L")


def test_caret_of_the_cron_builder_is_under_the_wrong_field(page: Page) -> None:
    page.goto("/cron?e=0 9 * * 8&zone=Europe/Berlin")
    text = page.get_by_label("Cron expression")
    expect(text).to_have_attribute("aria-invalid", "true")
    expect(text).to_have_accessible_description("weekday: 8 is not from 0 to 7")
    assert page.locator(".caret pre").inner_text() == " " * 8 + "^"
    text.fill("0 9 * * 7")
    expect(page.get_by_text("at 09:00 on Sunday, Europe/Berlin")).to_be_visible()
    expect(text).not_to_have_attribute("aria-invalid", "true")


def test_next_fires_are_shown_in_three_zones_across_a_clock_change(
    w: World, context: BrowserContext, page: Page
) -> None:
    w.advance("26d")
    context.clock.set_fixed_time(w.now)
    page.goto("/cron?e=0 9 * * *&zone=Europe/Berlin&tz=America/New_York")
    table = page.get_by_role("table", name="The next fire times")
    expect(table.get_by_role("columnheader")).to_contain_text(["Europe/Berlin", "UTC", "New York"])
    first = table.locator("tbody tr").first
    expect(first).to_contain_text("Sun 28 Mar 2027 09:00 +02:00")
    expect(first).to_contain_text("Sun 28 Mar 2027 07:00")
    expect(first).to_contain_text("Sun 28 Mar 2027 03:00")
    same = first.locator("time").evaluate_all("times => times.map(time => time.dateTime)")
    assert same == ["2027-03-28T07:00:00.000Z"] * 3


def test_refusals_are_shown_at_their_fields(page: Page) -> None:
    page.goto("/schedules/new?e=0 9 * * *&zone=Europe/Berln")
    expect(page.get_by_text("did you mean Europe/Berlin?")).to_be_visible()
    page.get_by_label("Time zone", exact=True).last.fill("Europe/Berlin")
    page.get_by_label("Handler", exact=True).fill("shop.wrok")
    page.get_by_label("Payload").fill("{")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Payload")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Payload").fill("{}")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_label("Handler", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Handler", exact=True)).to_have_accessible_description(
        re.compile("shop.work")
    )
