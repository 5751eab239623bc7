"""The first answer of the overview: what starts on time, and what is left of the budget."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect


def slo(good: int, total: int, **more: Any) -> dict[str, Any]:
    """The answer of a server with one lane, of which 99.9 % may start within a second."""
    left = 1 - (total - good) / total / 0.001 if total else None
    lane = {
        "lane": "medium",
        "objective": {"share": 0.999, "drift_ms": 1_000, "window": "30d"},
        "good": good,
        "total": total,
        "share": good / total if total else None,
        "budget_left": left,
        "burn": {"1h": 1_000 * (total - good) / max(total, 1)},
        "worst_minutes": [],
        "approximate": True,
        **more,
    }
    return {"source": "table", "lanes": [lane]}


@pytest.mark.parametrize(
    ("good", "total", "title", "facts"),
    [
        (14, 14, "On time", ["14 of 14 planned tasks", "too few tasks to tell"]),
        (13, 14, "Late starts", ["13 of 14 planned tasks", "too few tasks to tell"]),
        (998, 999, "Late starts", ["998 of 999", "too few tasks to tell"]),
        (1_000, 1_000, "On time", ["100 %", "budget left 100 %", "burn 0.0×"]),
        (9_995, 10_000, "On time", ["99.95 %", "budget left 50 %", "burn 0.5×"]),
        (9_980, 10_000, "Late", ["99.8 %", "budget left 0 %", "burn 2.0×"]),
    ],
)
def test_overview_judges_the_budget_only_of_tasks_that_are_enough_for_it(
    page: Page, good: int, total: int, title: str, facts: list[str]
):
    page.route("**/v1/slo", lambda route: route.fulfill(json=slo(good, total)))
    page.goto("/")
    answer = page.locator(".answers > .answer").first

    expect(answer.locator("strong")).to_have_text(title)
    for fact in facts:
        expect(answer).to_contain_text(fact)
    if "too few tasks to tell" in facts:
        expect(answer).not_to_contain_text("burn")


def test_overview_without_starts_leads_to_the_form(page: Page):
    stats = {
        "source": "table",
        "from": "2026-11-19T08:00:00Z",
        "to": "2026-11-19T09:00:00Z",
        "step": 60,
        "series": [],
        "total": {"drift_ms": None},
        "tick_age_seconds": 1,
        "relay_age_seconds": 0,
    }
    page.route("**/v1/slo", lambda route: route.fulfill(json=slo(0, 0)))
    page.route("**/v1/stats?*", lambda route: route.fulfill(json=stats))
    page.goto("/")

    expect(page.get_by_text("Nothing has started in the last hour")).to_be_visible()
    expect(page.get_by_text("a bar for each minute")).to_be_visible()
    page.get_by_role("link", name="Submit a task").click()
    expect(page.get_by_role("heading", name="New task")).to_be_visible()
