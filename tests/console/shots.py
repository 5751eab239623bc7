"""Which screenshots of the console are taken: `make test-console SCREENSHOTS=1` writes every page,
light and dark, wide and narrow. Otherwise each page is shown once, in one of the four."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Page

FOLDER = os.environ.get("DUETIME_SCREENSHOTS")
WIDE, NARROW = {"width": 1280, "height": 760}, {"width": 390, "height": 760}


class Shot(NamedTuple):
    """`name` is the page, with what differs from light and wide."""

    page: str
    theme: str
    size: Any

    @property
    def name(self) -> str:
        dark, narrow = "-dark" * (self.theme == "dark"), "-narrow" * (self.size is NARROW)
        return f"{self.page}{dark}{narrow}"


VARIANTS = [("light", WIDE), ("dark", NARROW), ("dark", WIDE), ("light", NARROW)]


def shots(pages: Iterable[str]) -> list[Shot]:
    if FOLDER:
        return [Shot(page, *variant) for page in pages for variant in VARIANTS]
    return [Shot(page, *VARIANTS[number % 4]) for number, page in enumerate(pages)]


def save(page: Page, name: str) -> None:
    image = page.screenshot()
    assert len(image) > 5_000  # something is on it
    if FOLDER:
        Path(FOLDER).mkdir(parents=True, exist_ok=True)
        (Path(FOLDER) / f"{name}.png").write_bytes(image)
