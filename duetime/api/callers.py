"""Who sends a request, and what the caller may do."""

from enum import StrEnum

from duetime.core.value import value


class Right(StrEnum):
    READ = "read"
    OPERATE = "operate"
    WORK = "work"  # the calls of HTTP workers, and nothing else


ALL_RIGHTS = frozenset(Right)
READ_ONLY = frozenset({Right.READ})
OPERATING = frozenset({Right.READ, Right.OPERATE})
ONLY_WORK = frozenset({Right.WORK})


@value(frozen=True, kw_only=True, slots=True)
class Caller:
    """`actor` is the name that the authorization gives the caller, if it knows one."""

    actor: str | None = None
    rights: frozenset[Right] = ALL_RIGHTS


ANYONE = Caller()
