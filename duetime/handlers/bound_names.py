"""The names that a source file binds to Duetime: to the package, and to what it imports from it."""

import ast
import sys
from collections.abc import Mapping

from duetime.core.value import value

IMPORTED = ("task", "cron", "every", "after", "Context")  # what a declaration is made of


@value(frozen=True, kw_only=True, slots=True)
class BoundNames:
    imported: Mapping[str, str]  # the name in the file → the name in Duetime
    duetime: frozenset[str]
    standard: frozenset[str]  # names from the standard library

    def meaning(self, node: ast.expr) -> str | None:
        """Returns which of the imported names an expression means, if any."""
        match node:
            case ast.Name(id=name):
                return self.imported.get(name)
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self.duetime:
                return name if name in IMPORTED else None
        return None

    def is_task(self, node: ast.expr) -> bool:
        return self.meaning(node) == "task"


def bound_names(tree: ast.Module) -> BoundNames:
    imported: dict[str, str] = {}
    duetime, standard = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module="duetime", level=0, names=names):
                imported |= {a.asname or a.name: a.name for a in names if a.name in IMPORTED}
                if any(a.name == "*" for a in names):
                    imported |= {name: name for name in IMPORTED}
            case ast.ImportFrom(module=str(module), level=0, names=names):
                standard |= {a.asname or a.name for a in names if _is_standard(module)}
            case ast.Import(names=names):
                duetime |= {a.asname or "duetime" for a in names if _binds_duetime(a)}
                standard |= {_first(a.asname or a.name) for a in names if _is_standard(a.name)}
    return BoundNames(imported=imported, duetime=frozenset(duetime), standard=frozenset(standard))


def _binds_duetime(imported: ast.alias) -> bool:
    """`import duetime.client` binds `duetime`, unless it has an `as` clause."""
    inside = imported.name.startswith("duetime.") and imported.asname is None
    return inside or imported.name == "duetime"


def _is_standard(module: str) -> bool:
    return _first(module) in sys.stdlib_module_names


def _first(name: str) -> str:
    return name.partition(".")[0]
