"""A graph of steps as text: its levels, with arrows between them.

extract  SUCCEEDED  2.1 s
  ↓
a  SUCCEEDED  1.0 s
b  RUNNING  attempt 2  12 s
… 96 more: 90 SUCCEEDED, 6 RUNNING
  ↓
load  BLOCKED
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

WIDEST = 6  # steps of a level that are shown in full
SHOWN = 4  # steps of a wider level; one line counts the others
NEEDS_SHOWN = 3
ARROW = "  ↓"

T = TypeVar("T")
Step = Mapping[str, Any]


def levels(steps: Sequence[Step]) -> list[list[Step]]:
    """Returns the steps level by level: each one level below the lowest of its needs, and `finally`
    steps below all others."""
    by_name = {step["name"]: step for step in steps}
    depth: dict[str, int] = {}
    for step in _in_order(steps, by_name):
        above = [depth[need] for need in step.get("needs") or () if need in depth]
        depth[step["name"]] = max(above, default=-1) + 1
    deepest = max((depth[s["name"]] for s in steps if not s.get("finally")), default=-1)
    found: dict[int, list[Step]] = {}
    for step in steps:
        level = deepest + 1 if step.get("finally") else depth[step["name"]]
        found.setdefault(level, []).append(step)
    return [found[level] for level in sorted(found)]


def _in_order(steps: Sequence[Step], by_name: Mapping[str, Step]) -> Iterator[Step]:
    """Yields each step after its needs. A workflow may have 500 steps in a row, so this does not
    recurse."""
    seen: set[str] = set()
    pending = [(step, False) for step in reversed(steps)]
    while pending:
        step, expanded = pending.pop()
        if expanded:
            yield step
        elif step["name"] not in seen:
            seen.add(step["name"])
            pending.append((step, True))
            needs = [by_name[need] for need in step.get("needs") or () if need in by_name]
            pending += [(need, False) for need in needs]


def draw(
    steps: Sequence[Step],
    line: Callable[[Step], T],
    text: Callable[[str], T],
    *,
    rank: Callable[[Step], int] = lambda _: 0,
    everything: bool = False,
) -> Iterator[T]:
    """Yields the lines of the graph. `line` makes that of a step, `text` any other. A wide level
    shows its steps of the lowest rank."""
    above: list[str] | None = None
    for level in levels(steps):
        if above is not None:
            yield text(ARROW)
        shown, folded = (level, []) if everything else fold(level, rank)
        for step in shown:
            yield line({**step, "after": _after(step, above)})
        if folded:
            yield text(f"… {len(folded)} more{_counted(folded)}")
        above = [step["name"] for step in level]


def fold(level: Sequence[Step], rank: Callable[[Step], int]) -> tuple[list[Step], list[Step]]:
    """Returns the steps to show, in their order, and those to count."""
    if len(level) <= WIDEST:
        return list(level), []
    first = {step["name"] for step in sorted(level, key=rank)[:SHOWN]}
    shown = [step for step in level if step["name"] in first]
    return shown, [step for step in level if step["name"] not in first]


def _counted(steps: Sequence[Step]) -> str:
    counts = Counter(step["status"] for step in steps if "status" in step)
    words = ", ".join(f"{number} {status}" for status, number in counts.most_common())
    return f": {words}" if words else ""


def _after(step: Step, above: list[str] | None) -> str:
    """Returns which steps it needs, unless the arrow says it: all of the level above."""
    needs = list(step.get("needs") or ())
    if not needs or sorted(needs) == sorted(above or ()) or step.get("finally"):
        return ""
    return f"← {some(needs)}"


def some(names: Sequence[str]) -> str:
    """Returns the first names, and how many others there are."""
    if len(names) <= NEEDS_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:NEEDS_SHOWN])} and {len(names) - NEEDS_SHOWN} more"
