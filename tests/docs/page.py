"""The blocks of a page of the documentation.

A title says what a block is. A path (```python title="shop/tasks.py") is a file that the reader
saves. Any other title (```python title="Celery") is the code of another system, shown to compare.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    page: str
    line: int  # of its first line in the page
    language: str
    title: str
    text: str

    @property
    def is_file(self) -> bool:
        return bool(re.search(r"\.\w+$", self.title))

    @property
    def of_another_system(self) -> bool:
        return bool(self.title) and not self.is_file

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> Iterator[Block]:
    """Yields the blocks of `docs/{page}` in their order."""
    text = (DOCS / page).read_text()
    for found in FENCE.finditer(text):
        language, title, inside = found.groups(default="")
        line = text.count("\n", 0, found.start()) + 2
        yield Block(page=page, line=line, language=language, title=title, text=inside)


def commands(text: str) -> list[str]:
    """Returns the commands of a `sh` block. One may go on after a backslash, or in its quotes."""
    typed: list[str] = []
    for line in text.replace("\\\n", " ").splitlines():
        if typed and not _is_whole(typed[-1]):
            typed[-1] += f"\n{line}"
        elif line.strip():
            typed.append(line)
    return typed


def _is_whole(command: str) -> bool:
    try:
        shlex.split(command, comments=True)
    except ValueError:  # a quote is open
        return False
    return True


def files_first(page: str) -> list[Block]:
    """Returns the blocks of a page as a reader takes them who saves all files before the start."""
    return sorted(blocks(page), key=lambda block: not block.is_file)
