"""`@value`: a dataclass, frozen for the type checker.

A frozen dataclass sets each field through object.__setattr__, which makes it four times as dear
to make as a plain one, and a task makes some thirty values on its way: freezing them at run time
costs a fifth of all CPU. So mypy forbids assignment, and at run time nothing checks it.

A dataclass also writes and compiles its methods when it is imported, and its signature for a
docstring: up to a millisecond for each class, which a cold function waits for. So only `__init__`
is written for each; the rest is put together from what is there.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:
    from dataclasses import dataclass, fields
    from operator import attrgetter

    def value(*, frozen=False, **options):
        def make(cls):
            cls.__doc__ = cls.__doc__ or cls.__name__
            made = dataclass(repr=False, eq=False, **options)(cls)
            made.__repr__ = _repr
            made.__eq__, made.__hash__ = _compared(*(f.name for f in fields(made)))
            if not frozen:
                made.__hash__ = None
            return made

        return make

    def _repr(self):
        told = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__qualname__}({told})"

    def _compared(*names):
        read = attrgetter(*names)

        def equal(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return read(self) == read(other)

        def hashed(self):
            return hash(read(self))

        return equal, hashed


__all__ = ["value"]
