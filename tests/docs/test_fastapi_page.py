"""The page about FastAPI: its app submits, reads, cancels, and checks signatures."""

import time

import pytest

from duetime.core.times import HOUR
from duetime.core.webhook_signatures import key_of, signature_headers
from tests.docs.page import files_first
from tests.docs.reader import Reader
from tests.world import World

ORDER = {"number": 17, "email": "ada@example.com"}
SECRET = "whsec_c2hvcC1ob29rLXNlY3JldC0xMjM0"


def test_page_works_as_it_is_printed(
    reader: Reader, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_HOOK", SECRET)
    reader.read(files_first("how-to/fastapi.md"))

    assert reader.failed == {}
    site = reader.site
    assert site is not None
    again = site.post("/orders", json=ORDER).json()["reminder"]
    assert again in reader.output["duetime list"]
    assert site.get(f"/reminders/{again}").json() == {"status": "PENDING"}

    world.advance(24 * HOUR)
    world.tick()
    world.deliver()
    assert world.task(again).result == '"reminded ada@example.com of order 17"'

    other = site.post("/orders", json={**ORDER, "number": 18}).json()["reminder"]
    assert site.delete(f"/reminders/{other}").json() == {"status": "CANCELLED"}
    assert site.get(f"/reminders/{'0' * 26}").status_code == 404

    body = b'{"number": 17, "email": "ada@example.com"}'
    signed = signature_headers([key_of(SECRET)], "01T", int(time.time()), body)
    signed["content-type"] = "application/json"
    assert site.post("/hooks/remind", content=body, headers=signed).json() == {"sent": True}
    assert site.post("/hooks/remind", content=body, headers=signed).json() == {"sent": False}
    assert site.post("/hooks/remind", content=body).status_code == 401
