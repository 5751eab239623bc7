"""The strings in any JSON. No recursion: how deep a value goes is not ours to decide."""

from collections.abc import Callable, Iterator
from typing import Any

# The last step, and the trail before it: a path is put together only when it is told.
Trail = tuple[Any, Any] | None


def told(trail: Trail) -> str:
    """items.0.url"""
    steps = []
    while trail is not None:
        trail, step = trail
        steps.append(str(step))
    return ".".join(reversed(steps))


def strings_in(value: Any) -> Iterator[tuple[Trail, str]]:
    """In order, each with where it stands. Keys are not among them."""
    pending: list[tuple[Trail, Any]] = [(None, value)]
    while pending:
        trail, inner = pending.pop()
        if isinstance(inner, str):
            yield trail, inner
        else:
            pending += [((trail, step), below) for step, below in reversed(_steps(inner))]


def map_strings(value: Any, change: Callable[[str], Any]) -> Any:
    """The same value with other strings, or whatever else `change` puts in their place."""
    top = [value]
    pending: list[Any] = [top]
    while pending:
        copy = pending.pop()
        for step, inner in _steps(copy):
            if isinstance(inner, str):
                copy[step] = change(inner)
            elif isinstance(inner, dict | list):
                copy[step] = inner.copy()
                pending.append(copy[step])
    return top[0]


def _steps(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []
