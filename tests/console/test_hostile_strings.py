"""Strings that want to be code, markup or layout are shown as the text that they are."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.running import Runner

MARKUP = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>"
LINK = "javascript:document.title='run'"
RTL = "\u202egnp.exe عربي\u202c"
EMOJI = "🚀👩‍👩‍👧 é́́́"
LONG = "a" * 256
HUGE = 2**63
HOSTILE = [MARKUP, LINK, RTL, EMOJI, LONG, "{{constructor}}", "__proto__", "%00%0a ' \" ` \\ \t"]


@pytest.fixture(scope="module")
def tasks(runner: Runner) -> list[str]:
    """Tasks with a hostile string in every field that takes one."""
    return [
        runner.submit(
            target={
                "type": "http",
                "url": "http://127.0.0.1:1/" + ("" if "\u202e" in text else "x"),
                "headers": {"x-hostile": "".join(c for c in text if c.isascii() and c >= " ")},
            },
            payload={text: text, "huge": HUGE, "nested": {"__proto__": [text, None, HUGE]}},
            name=text,
            tags={text[:64]: text},
            namespace="hostile",
            retry={"max_attempts": 1},
        )
        for text in HOSTILE
    ]


@pytest.fixture
def watched(page: Page) -> list[str]:
    """The violations of the security policy, and every request to another place."""
    seen: list[str] = []
    page.on("request", lambda request: "127.0.0.1" in request.url or seen.append(request.url))
    page.on("console", lambda message: "Refused" in message.text and seen.append(message.text))
    page.on("dialog", lambda dialog: seen.append(dialog.message))
    return seen


def test_list_shows_names_as_text(page: Page, tasks: list[str], watched: list[str]):
    page.goto("/tasks?ns=hostile")
    for task_id, text in zip(tasks, HOSTILE, strict=True):
        name = page.locator(f'[data-key="{task_id}"] td.main a')
        expect(name).to_have_text(" ".join(text.split()))

    assert page.title() == "Tasks · Duetime"
    assert page.locator("main img, main script, main b").count() == 0
    assert not watched


def test_task_page_shows_every_field_as_text(page: Page, tasks: list[str], watched: list[str]):
    for task_id, text in zip(tasks, HOSTILE, strict=True):
        page.goto(f"/tasks/{task_id}")
        expect(page.get_by_role("heading", level=1)).to_have_text(" ".join(text.split()))
        payload = page.get_by_role("region", name="Payload")
        expect(payload).to_contain_text("9223372036854775808")
        expect(payload.locator(".value.string").first).to_have_text(" ".join(f'"{text}"'.split()))
        expect(payload.locator(".key", has_text="__proto__").first).to_be_visible()
        page.locator(".as-code, .tree").first.wait_for()

        assert page.title() == "Task · Duetime"
        assert page.locator("main img, main script").count() == 0
    assert not watched


def test_links_of_the_page_lead_nowhere_else(page: Page, tasks: list[str]):
    page.goto(f"/tasks/{tasks[HOSTILE.index(LINK)]}")
    expect(page.get_by_role("heading", level=1)).to_have_text(LINK)

    links = page.eval_on_selector_all("a[href]", "links => links.map(link => link.protocol)")

    assert set(links) == {"http:"}


def test_lone_surrogate_of_an_answer_is_shown(page: Page, tasks: list[str]):
    """The API refuses one; another server, or an older row, may have it."""

    def with_surrogate(route: Any) -> None:
        task = route.fetch().json()
        body = json.dumps({**task, "name": "half \ud83d", "payload": {"half": "\ud83d"}})
        route.fulfill(body=body, content_type="application/json")

    page.route(f"**/v1/tasks/{tasks[0]}", with_surrogate)
    page.goto(f"/tasks/{tasks[0]}")

    expect(page.get_by_role("heading", level=1)).to_contain_text("half")
    expect(page.get_by_role("region", name="Payload")).to_contain_text("half")


def test_hostile_filter_stays_in_its_field(page: Page, watched: list[str]):
    page.goto("/tasks")
    field = page.get_by_label("Filter tasks")
    field.fill(f"{MARKUP} handler:x")
    field.press("Enter")
    page.reload()

    expect(field).to_have_value(f"handler:x {MARKUP}")
    assert not watched
