"""`@value`: a dataclass, frozen for the type checker.

A frozen dataclass sets each field through object.__setattr__, which makes it four times as dear
to make as a plain one, and a task makes some thirty values on its way: freezing them at run time
costs a fifth of all CPU. So mypy forbids assignment, and at run time nothing checks it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:
    from dataclasses import dataclass

    def value(*, frozen, **options):
        return dataclass(unsafe_hash=frozen, **options)


__all__ = ["value"]
