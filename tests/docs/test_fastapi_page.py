"""The page about FastAPI: its app submits, reads, cancels, and checks signatures."""

import importlib
import time

from duetime.core.times import HOUR
from duetime.core.webhook_signatures import key_of, signature_headers
from tests.docs.page import blocks
from tests.docs.reader import SITE, Reader
from tests.world import World

PAGE = "how-to/fastapi.md"
ORDER = {"number": 17, "email": "ada@example.com"}


def test_page_works_as_it_is_printed(reader: Reader, world: World) -> None:
    reader.read(blocks(PAGE))

    assert reader.failed == []
    assert reader.site is not None
    importlib.import_module("reminders")
    importlib.import_module("hooks")
    again = reader.site.post(f"{SITE}/orders", json=ORDER).json()["reminder"]
    assert again in reader.output["duetime list"]
    assert reader.site.get(f"{SITE}/reminders/{again}").json() == {"status": "PENDING"}

    world.advance(24 * HOUR)
    world.tick()
    world.deliver()
    assert world.task(again).result == '"reminded ada@example.com of order 17"'

    other = reader.site.post(f"{SITE}/orders", json={**ORDER, "number": 18}).json()["reminder"]
    assert reader.site.delete(f"{SITE}/reminders/{other}").json() == {"status": "CANCELLED"}
    assert reader.site.delete(f"{SITE}/reminders/{'0' * 26}").status_code == 404
    assert reader.site.get(f"{SITE}/reminders/{'0' * 26}").status_code == 404


def test_hook_of_the_page_takes_what_the_secret_signs_and_nothing_else(reader: Reader) -> None:
    secret = "whsec_c2hvcC1ob29rLXNlY3JldC0xMjM0"
    reader.type(f"export SHOP_HOOK={secret}")
    reader.read(block for block in blocks(PAGE) if block.is_file)
    importlib.import_module("hooks")
    reader.type("uvicorn app:app")
    assert reader.site is not None
    body = b'{"number": 17, "email": "ada@example.com"}'

    def post(headers: dict[str, str]) -> tuple[int, object]:
        sent = {"content-type": "application/json", **headers}
        answer = reader.site.post(f"{SITE}/hooks/remind", content=body, headers=sent)  # type: ignore[union-attr]
        return answer.status_code, answer.json()

    signed = signature_headers([key_of(secret)], "01T", int(time.time()), body)
    assert post(signed) == (200, {"sent": True})
    assert post(signed) == (200, {"sent": False})
    assert post({})[0] == 401
