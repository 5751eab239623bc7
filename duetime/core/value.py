"""`@value`: a dataclass, frozen for the type checker.

A frozen dataclass sets each field through object.__setattr__, so creating one costs four times as
much as a plain one. A task creates some thirty values on its way, and freezing them at run time
costs a fifth of all CPU. So mypy forbids assignment, and nothing checks it at run time.

A dataclass also generates and compiles its methods on import, and its signature as a docstring: up
to a millisecond per class, which delays a cold start. So only `__init__` is generated for each
class; the other methods are shared.

`replace` is that of dataclasses, for values with slots. That one reads each field by its name and
calls `__init__`, which costs five times as much as a copy; a task is replaced at every step. What
changes the same fields often gets a function of its own, which sets each field once.
"""

from typing import TYPE_CHECKING

MANY_USES = (
    100  # of a change, before it gets a function: compiling one takes longer than 100 copies
)

if TYPE_CHECKING:
    from dataclasses import dataclass as value
    from dataclasses import replace
else:
    from dataclasses import dataclass, fields
    from functools import cache
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
        fields_shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self))
        return f"{type(self).__qualname__}({fields_shown})"

    def _compared(*names):
        read = attrgetter(*names)

        def equal(self, other):
            if other.__class__ is not self.__class__:
                return NotImplemented
            return read(self) == read(other)

        def hashed(self):
            return hash(read(self))

        return equal, hashed

    def replace(given, /, **changes):
        """Returns a copy with other values in some fields."""
        copier = _copiers.get((given.__class__, *changes))
        if copier is None:
            return _replaced(given, changes)
        return copier(given, *changes.values())

    _copiers = {}
    _uses = {}

    def _replaced(given, changes):
        key = (given.__class__, *changes)
        _uses[key] = uses = _uses.get(key, 0) + 1
        if uses > MANY_USES:
            _copiers[key] = _copier(*key)
        made = _copier(given.__class__)(given)
        for name, changed in changes.items():
            setattr(made, name, changed)
        return made

    @cache
    def _copier(cls, *changed):
        """Returns a function that copies a value, with other values in some fields. It is generated
        when it is first needed, as dataclasses generate `__init__`."""
        if hasattr(cls, "__post_init__") or "__dict__" in dir(cls):
            raise TypeError(f"{cls.__name__} cannot be copied field by field")
        copied = "".join(
            f" _made.{f.name} = {f.name if f.name in changed else f'_given.{f.name}'}\n"
            for f in fields(cls)
        )
        names = {"_new": object.__new__, "_cls": cls}
        arguments = ", ".join(("_given", *changed))
        exec(f"def copied({arguments}):\n _made = _new(_cls)\n{copied} return _made\n", names)
        return names["copied"]


__all__ = ["replace", "value"]
