"""The second half of an error about an unknown name: the nearest name, and those that exist."""

from collections.abc import Collection
from itertools import accumulate

MAX_NAMES_LENGTH = 70  # characters of names in an error


def known_names(name: str, known: Collection[str]) -> str:
    return f"{_nearest(name, known)}{_listed(known)}"


def _nearest(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches  # needed only for a wrong name

    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _listed(known: Collection[str]) -> str:
    """Returns as many names as fit, and how many more there are."""
    names = sorted(known)
    lengths = accumulate(len(name) + 2 for name in names)
    fitting = max(sum(1 for length in lengths if length <= MAX_NAMES_LENGTH), 1)
    rest = f" and {len(names) - fitting:,} more" if fitting < len(names) else ""
    return f"known: {', '.join(names[:fitting]) or 'none'}{rest}"
