"""The docstrings of the asynchronous classes are those of the synchronous ones."""

from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def documented_by(source: type) -> Callable[[Class], Class]:
    """Returns a decorator that gives each method without a docstring that of `source`."""

    def document(target: Class) -> Class:
        for name, member in vars(target).items():
            if callable(member) and member.__doc__ is None:
                member.__doc__ = getattr(getattr(source, name, None), "__doc__", None)
        return target

    return document
