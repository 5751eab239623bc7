"""The workflow tutorial: the run fails at b, and what is resumed is b and load alone."""

import pytest

from tests.docs.page import blocks
from tests.docs.reader import Reader

PAGE = "tutorial-workflows.md"
FAILS = """duetime runs submit etl --input '{"day": "2027-01-04"}' --watch"""


def test_tutorial_works_as_it_is_printed(reader: Reader) -> None:
    ran: list[str] = []
    for block in blocks(PAGE):
        reader.read([block])
        if block.text == "cat ran.txt\n":
            ran.append(reader.output["cat ran.txt"])

    shown = reader.output
    assert list(reader.failed) == [FAILS]
    assert "etl is valid" in shown["duetime workflows put etl:w --dry-run"]
    assert "b — ConnectionError: the source of b does not answer" in shown[FAILS]
    assert "SKIPPED  (a step before it failed)" in shown[FAILS]
    before, after = ran
    assert sorted(before.split()) == ["a", "b", "b", "c", "extract"]
    assert after.removeprefix(before).split() == ["b", "load"]
    assert 'result: {"loaded": 120}' in shown["duetime runs watch ID"]
    assert "02:30:00" in shown["duetime schedules upcoming nightly-etl"]
    assert "1 passed" in shown["pytest -q test_etl.py"]


@pytest.mark.parametrize("number", range(2))
def test_printed_list_is_what_ran(reader: Reader, number: int) -> None:
    """The three in the middle run side by side: their order may differ from the page."""
    page = list(blocks(PAGE))
    [*places] = [place for place, block in enumerate(page) if block.text == "cat ran.txt\n"]
    reader.read(page[: places[number] + 1])

    printed = page[places[number] + 1].text
    assert sorted(reader.output["cat ran.txt"].split()) == sorted(printed.split())


@pytest.mark.long
@pytest.mark.parametrize("page", [PAGE, "how-to/workflows.md"])
def test_code_of_the_pages_about_workflows_is_typed(reader: Reader, page: str) -> None:
    files = [block for block in blocks(page) if block.is_file]
    reader.read(files)
    reader.type(f"mypy --strict {' '.join(block.title for block in files)}")

    assert reader.failed == {}
