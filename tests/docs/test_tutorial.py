"""The tutorial, from the empty folder to the tests: every file, command and request."""

import json

import pytest

from tests.docs.page import blocks
from tests.docs.reader import Reader

DIES = """duetime submit --handler shop.restock --payload '{"item": "tea"}' --watch"""


def test_tutorial_works_as_it_is_printed(reader: Reader) -> None:
    reader.read(block for block in blocks("tutorial.md") if "mypy" not in block.text)

    shown = reader.output
    assert list(reader.failed) == [DIES]
    assert "attempt 2 of 3 failed (ConnectionError" in shown[DIES]
    assert '"Hello, Ada!"' in "".join(shown.values())
    assert shown["python submit.py"] == "Hello, Alan!\nPENDING\n"
    assert "Redriven 1 task." in "".join(shown.values())
    assert '{"ordered": "tea", "attempt": 4}' in shown["duetime watch ID"]
    assert "fired" in shown["duetime schedules ledger shop.count"]
    assert "09:00:00" in shown["duetime schedules upcoming reports.daily"]
    assert "at 09:00, Monday to Friday" in "".join(shown.values())
    status = shown["curl -s http://127.0.0.1:8000/tasks/ID"]
    assert json.loads(status) == {"status": "SUCCEEDED"}
    assert "4 passed" in shown["pytest test_shop.py"]


@pytest.mark.long
def test_code_of_the_tutorial_is_typed(reader: Reader) -> None:
    tutorial = list(blocks("tutorial.md"))
    reader.read(block for block in tutorial if block.is_file or "mypy --strict" in block.text)

    assert reader.failed == {}
