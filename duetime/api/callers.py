"""Who sends a request, and what the caller may do."""

from enum import StrEnum
from typing import Literal

from duetime.core.value import value


class Right(StrEnum):
    READ = "read"
    OPERATE = "operate"
    WORK = "work"  # the calls of HTTP workers, and nothing else


ALL_RIGHTS = frozenset(Right)
READ_ONLY = frozenset({Right.READ})
OPERATING = frozenset({Right.READ, Right.OPERATE})
ONLY_WORK = frozenset({Right.WORK})
Authorization = Literal["signature", "token"]  # of AWS; or a bearer token


@value(frozen=True, kw_only=True, slots=True)
class Caller:
    """`actor` is the name that the authorization gives the caller, if it knows one;
    `authorization` is what a call needs, if it needs something."""

    actor: str | None = None
    rights: frozenset[Right] = ALL_RIGHTS
    authorization: Authorization | None = None


ANYONE = Caller()
