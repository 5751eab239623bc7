"""The pages about FastAPI and Flask: their apps submit, read, cancel, and check signatures."""

import time

import pytest

from duetime.client import Client, current
from duetime.core.times import HOUR
from duetime.core.webhook_signatures import key_of, signature_headers
from tests.docs.page import files_first
from tests.docs.reader import Reader
from tests.world import World

ORDER = {"number": 17, "email": "ada@example.com"}
SECRET = "whsec_c2hvcC1ob29rLXNlY3JldC0xMjM0"


@pytest.mark.parametrize("page", ["how-to/fastapi.md", "how-to/flask.md"])
def test_page_works_as_it_is_printed(
    reader: Reader, world: World, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_HOOK", SECRET)
    reader.read(files_first(page))

    assert reader.failed == {}
    assert "1 passed" in reader.output["pytest test_app.py"]
    site = reader.site
    assert site is not None
    again = site.post("/orders", json=ORDER).json()["reminder"]
    assert again in reader.output["duetime list"]
    assert site.get(f"/reminders/{again}").json() == {"status": "PENDING"}

    world.advance(24 * HOUR)
    world.tick()
    world.deliver()
    assert world.task(again).result == '"reminded ada@example.com of order 17"'

    assert site.post("/orders", json={**ORDER, "number": "x"}).status_code == 422
    other = site.post("/orders", json={**ORDER, "number": 18}).json()["reminder"]
    assert site.delete(f"/reminders/{other}").json() == {"status": "CANCELLED"}
    assert site.get(f"/reminders/{'0' * 26}").status_code == 404

    body = b'{"number": 17, "email": "ada@example.com"}'
    headers = signature_headers([key_of(SECRET)], "01T", int(time.time()), body)
    headers["content-type"] = "application/json"
    first, second = (site.post("/hooks/remind", content=body, headers=headers) for _ in range(2))
    assert (first.json(), second.json()) in (
        ({"sent": True}, {"sent": False}),
        ({"task": "01T", "order": 17}, {"task": "01T", "order": 17}),
    )
    assert site.post("/hooks/remind", json=ORDER).status_code == 401

    nowhere = Client("http://127.0.0.1:1", retries=0)
    monkeypatch.setattr(current, "_in_test", (nowhere,))
    assert site.get(f"/reminders/{again}").status_code == 503
