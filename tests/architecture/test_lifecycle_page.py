"""docs/reference/lifecycle.md has every status, and every step with its transitions."""

import re
from pathlib import Path

from duetime.core.lifecycle import TRANSITIONS, Status

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "lifecycle.md").read_text()
STEP = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)
MOVE = re.compile(r"([A-Z]+) → ([A-Z]+)")


def test_page_has_every_step_and_its_transitions() -> None:
    documented = {step: sorted(MOVE.findall(moves)) for step, moves in STEP.findall(PAGE)}

    assert documented == {
        str(step): sorted(
            (str(before), str(after)) for before, afters in moves.items() for after in afters
        )
        for step, moves in TRANSITIONS.items()
    }


def test_page_explains_every_status() -> None:
    assert set(re.findall(r"^\| ([A-Z]+) \|", PAGE, re.MULTILINE)) == set(Status)
