"""The page at /docs: it shows the whole document, and needs nothing but itself."""

import hashlib
import json
import re
import shlex
from base64 import b64encode
from html import escape
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from duetime.api.openapi.document import ROUTES
from duetime.api.openapi.page import curl, render
from duetime.api.openapi.page_types import REQUIRED
from duetime.api.openapi.resource import page_text
from duetime.api.openapi.route import Route
from tests.api.openapi import document
from tests.api.service import Service

PAGE = page_text().decode()
UNCLOSED = {"meta"}


class Elements(HTMLParser):
    """Reads the elements of a page, and which of them are open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in UNCLOSED:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def attributes(self, name: str) -> list[str]:
        return [str(given[name]) for _, given in self.found if name in given]


def test_elements_of_the_page_are_nested_properly():
    assert Elements(PAGE).open == []


def test_page_has_every_call_with_its_parameters_and_an_example():
    for route in ROUTES:
        [article] = re.findall(rf'<article id="{route.operation}">(.*?)</article>', PAGE, re.S)
        assert escape(route.summary) in article
        assert "curl -s" in article
        for parameter in route.parameters:
            assert f"<code>{parameter.name}</code>" in article
        for answer in route.answers:
            assert f"<code>{answer.status}</code>" in article


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
def test_command_of_a_call_sends_its_example(route: Route):
    method = route.method.lower()
    words = shlex.split(curl(method, route.path, document()["paths"][route.path][method]))
    options = dict(pairwise(words))
    [url] = [urlsplit(word) for word in words if word.startswith("http")]

    assert url.path == route.path.replace("{id}", "$ID").replace("{name}", "$NAME")
    assert parse_qs(url.query) == {
        name: [given] if isinstance(given, str) else given
        for name, given in route.example.query.items()
    }
    assert json.loads(options.get("-d", "null")) == route.example.body
    assert options.get("-X", "POST" if "-d" in options else "GET") == route.method


def test_page_marks_required_fields_of_requests_and_rare_fields_of_answers():
    def fields(name: str) -> str:
        [article] = re.findall(rf'<article id="schema-{name}">(.*?)</article>', PAGE, re.S)
        return str(article)

    assert "<code>target</code>" + REQUIRED in fields("TaskInput")
    assert fields("TaskInput").count(REQUIRED) == 1
    assert "required" not in fields("Task")
    assert '<code>backfill</code><span class="mark">if any</span>' in fields("LedgerEntry")


def test_page_has_every_schema_with_every_field():
    for name, schema in document()["components"]["schemas"].items():
        [article] = re.findall(rf'<article id="schema-{name}">(.*?)</article>', PAGE, re.S)
        for field in schema.get("properties", {}):
            assert f"<code>{field}</code>" in article


def test_every_link_of_the_page_leads_somewhere():
    elements = Elements(PAGE)
    ids = elements.attributes("id")

    assert len(ids) == len(set(ids))
    outside = {link for link in elements.attributes("href") if not link.startswith("#")}
    assert outside == {"v1/openapi.json"}
    inside = {link[1:] for link in elements.attributes("href") if link.startswith("#")}
    assert inside <= set(ids)


def test_page_loads_nothing_and_runs_nothing():
    elements = Elements(PAGE)

    assert {tag for tag, _ in elements.found} & {"script", "link", "img", "iframe", "form"} == set()
    names = {name for _, given in elements.found for name in given}
    assert {name for name in names if name.startswith("on") or name in ("src", "style")} == set()
    assert not re.search(r"@import|url\(", PAGE)


def test_policy_of_the_page_allows_its_style_alone(service: Service):
    response = service.get("/docs")

    [style] = re.findall(rb"<style>(.*?)</style>", response.encoded(), re.S)
    digest = b64encode(hashlib.sha256(style).digest()).decode()
    policy = response.headers["content-security-policy"]
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert "unsafe" not in policy
    assert service.get("/docs", theme="dark").status == 422


@pytest.mark.parametrize("place", ["summary", "description"])
def test_texts_of_the_document_cannot_become_html(place: str):
    evil = "<script>alert(1)</script> `<b>`"
    call: dict[str, Any] = {**document()["paths"]["/v1/health"]["get"], place: evil}
    changed = {**document(), "paths": {**document()["paths"], "/v1/health": {"get": call}}}

    page = render(changed)

    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
