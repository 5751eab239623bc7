"""The page about Flask: its app submits, reads, cancels, and checks signatures."""

import importlib
import time

import pytest

from duetime.client import current
from duetime.core.times import HOUR
from duetime.core.webhook_signatures import key_of, signature_headers
from tests.docs.page import blocks
from tests.docs.reader import SITE, Reader
from tests.world import World

PAGE = "how-to/flask.md"
ORDER = {"number": 17, "email": "ada@example.com"}


def test_page_works_as_it_is_printed(
    reader: Reader, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.read(blocks(PAGE))

    assert reader.failed == []
    site = reader.site
    assert site is not None
    again = site.post("/orders", json=ORDER).json()["reminder"]
    assert again in reader.output["duetime list"]
    assert site.get(f"/reminders/{again}").json() == {"status": "PENDING"}

    world.advance(24 * HOUR)
    world.tick()
    world.deliver()
    assert world.task(again).result == '"reminded ada@example.com of order 17"'

    wrong = site.post("/orders", json={**ORDER, "number": "x"})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "order")
    other = site.post("/orders", json={**ORDER, "number": 18}).json()["reminder"]
    assert site.delete(f"/reminders/{other}").json() == {"status": "CANCELLED"}
    assert site.delete(f"/reminders/{'0' * 26}").status_code == 404

    monkeypatch.setattr(current, "_default", None)
    monkeypatch.setenv("DUETIME_URL", "http://127.0.0.1:1")
    assert site.post("/orders", json=ORDER).status_code == 503


def test_hook_of_the_page_takes_what_the_secret_signs_and_nothing_else(reader: Reader) -> None:
    secret = "whsec_c2hvcC1ob29rLXNlY3JldC0xMjM0"
    reader.type(f"export SHOP_HOOK={secret}")
    reader.read(block for block in blocks(PAGE) if block.is_file)
    importlib.import_module("hooks")
    reader.type("flask --app app run")
    assert reader.site is not None
    body = b'{"number": 17}'
    headers = signature_headers([key_of(secret)], "01T", int(time.time()), body)
    headers["content-type"] = "application/json"

    answer = reader.site.post(f"{SITE}/hooks/remind", content=body, headers=headers)
    assert answer.json() == {"task": "01T", "order": 17}
    assert reader.site.post(f"{SITE}/hooks/remind", json={"number": 17}).status_code == 401
