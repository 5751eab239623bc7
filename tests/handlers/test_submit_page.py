"""Every example of the page "Submit from code" runs, and does what it says."""

import re
from pathlib import Path
from typing import Any

import pytest

import duetime
from duetime.handlers import registry
from tests.handlers.conftest import Shop

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "submit-from-code.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch, shop: Shop) -> None:
    monkeypatch.setattr(registry, "_handlers", {})
    monkeypatch.setattr(duetime, "Client", lambda **options: shop.client, raising=False)


def run(number: int) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "the_page"}
    exec(BLOCKS[number], namespace)
    return namespace


def test_first_example_submits_and_waits(shop: Shop, capsys: pytest.CaptureFixture[str]):
    run(0)
    assert capsys.readouterr().out.splitlines()[-1] == "{'tea': 12}"
    due, later, at, other = shop.bodies()
    assert (due.keys() & {"delay", "run_at"}, later["delay"]) == (set(), 86_400)
    assert at["run_at"] == "2027-01-04T09:00:00+01:00"
    assert (other["priority"], other["idempotency_key"]) == ("high", "order-17")


def test_example_of_many_tasks_has_no_problem(shop: Shop, capsys: pytest.CaptureFixture[str]):
    run(1)
    assert capsys.readouterr().out == ""
    assert [len(body["tasks"]) for _, body in shop.requests] == [100, 100, 50]


def test_example_of_async_code_waits_for_the_result(capsys: pytest.CaptureFixture[str]):
    run(2)
    assert capsys.readouterr().out == "2.5\n"


def test_example_of_children_submits_each_once(shop: Shop, capsys: pytest.CaptureFixture[str]):
    handlers = run(3)
    submission = handlers["announce"].submit(customers=["ada", "bob"], text="hi")
    assert submission.wait() == 2
    shop.world.deliver()
    children = list(shop.client.list(parent_id=submission.id))
    assert [child["payload"]["customer"] for child in children].count("staff") == 1
    assert len(children) == 3
    assert sorted(capsys.readouterr().out.splitlines()) == ["ada: hi", "bob: hi"]


def test_example_of_a_client_submits_with_it(shop: Shop):
    run(4)
    assert [body["target"]["handler"] for body in shop.bodies()] == ["shop.ping"]
    assert len(BLOCKS) == 5
