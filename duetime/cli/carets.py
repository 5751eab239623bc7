"""A place in a text, pointed at."""

from rich.cells import cell_len

WIDEST = 60  # characters of a text that are shown


def pointed(text: str, position: int) -> list[str]:
    """The text, and a caret under a place that is counted from 1; of a long text what is around."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    place = min(max(position - 1, 0), len(shown))
    start = max(0, min(place - WIDEST // 2, len(shown) - WIDEST))
    end = start + WIDEST
    before = "…" if start else ""
    after = "…" if end < len(shown) else ""
    width = cell_len(before + shown[start:place])
    return [f"  {before}{shown[start:end]}{after}", f"  {' ' * width}^"]
