"""Every relative link in the Markdown pages leads to a file, and to a heading that is in it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(pattern)
)

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\]\([^)]*\)", "]", heading.lower())
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in HEADING.findall(FENCE.sub("", page.read_text()))}


def broken_links(page: Path, text: str) -> Iterator[str]:
    for link in LINK.findall(text):
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (fragment and fragment not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert list(broken_links(page, page.read_text())) == []


@pytest.mark.parametrize("link", ["gone.md", "README.md#gone", "#gone"])
def test_broken_link_is_found(link: str) -> None:
    assert list(broken_links(ROOT / "README.md", f"[x]({link})")) == [link]


def test_index_lists_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / link.partition("#")[0]).resolve()
        for link in LINK.findall(index.read_text())
    }
    pages = {path for path in PAGES if path.is_relative_to(index.parent)}
    decisions = {
        path for path in pages if path.parent.name == "decisions" and path.stem != "README"
    }
    assert pages - decisions - {index} <= linked


NAMED_FILE = re.compile(r"`((?:lambdas|duetime|infra|tests|bench|docs|scripts|examples)/[\w./-]*)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = NAMED_FILE.findall(page.read_text())

    assert [path for path in named if not (ROOT / path).exists()] == []


def test_files_in_the_path_of_a_task_exist() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
    path = page.partition("## The path of one task")[2].partition("```text")[2].partition("```")[0]
    files = set(re.findall(r"[\w/]+\.py", path))

    assert len(files) > 30
    assert {
        f for f in files if not ((ROOT / "duetime" / f).exists() or (ROOT / f).exists())
    } == set()
