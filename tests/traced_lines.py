"""The cost of an action in lines of Python: the same on every machine, however busy it is."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_lines(action: Callable[[], Any]) -> int:
    """Runs an action, and returns how many lines it has executed, each as often as it was."""
    lines = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        action()
    finally:
        sys.settrace(before)
    return lines
