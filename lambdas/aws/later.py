"""A client that is made when it is first used. Making one takes as long as fifty calls, and a cold
function that has nothing to send should not wait for it."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

T = TypeVar("T")


def later(make: Callable[[], T]) -> T:
    return cast(T, _Later(make))


class _Later:
    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    @cached_property
    def _made(self) -> Any:
        return self._make()
