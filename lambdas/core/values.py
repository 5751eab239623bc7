"""`@value`: a dataclass, frozen for the type checker.

A frozen dataclass sets each field through object.__setattr__, which makes it four times as dear
to make as a plain one, and a task makes some thirty values on its way: freezing them at run time
costs a fifth of all CPU. So mypy forbids assignment, and at run time nothing checks it.

A dataclass also writes and compiles its methods when it is imported, half a millisecond for each
class, which a cold function waits for. The two that are seldom called are the same for all here.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:
    from dataclasses import dataclass, fields

    def value(*, frozen, **options):
        def make(cls):
            made = dataclass(repr=False, **options)(cls)
            made.__repr__ = _repr
            made.__hash__ = _hash if frozen else None
            return made

        return make

    def _repr(self):
        told = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__qualname__}({told})"

    def _hash(self):
        return hash(tuple(getattr(self, f.name) for f in fields(self)))


__all__ = ["value"]
