"""A recurrence in words: when it fires, and what daylight saving does to that."""

from lambdas.core.recurrence.touch import Touch, touched
from lambdas.core.recurrence.words import describe

__all__ = ["Touch", "describe", "touched"]
