"""The cut: whoever acts is gone, before a call to a backend, after it, or in the midst of one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

STORE = "put get apply set_aside wakes few_wakes page dead keep_attempt attempts reserve"
SCHEDULES = "put get exist delete set_aside page note ledger"
CURSORS = "shards load save"
LANES = "send receive delete hand_back hold bury depth"
VERBS = frozenset(f"{STORE} {SCHEDULES} {CURSORS} {LANES}".split())
READ = "get exist wakes few_wakes page dead attempts ledger shards load depth"
READS = frozenset(READ.split(" "))
# Many requests in one call; but a schedule is deleted alone.
SEVERAL = frozenset({"put", "apply", "reserve", "note", "send", "delete"})


class Cut(BaseException):
    """The end of whoever was at work."""


class Where(StrEnum):
    BEFORE = "before"  # the call was not made
    HALF = "half"  # of several requests the first were made
    AFTER = "after"  # it was made, and the caller never learns


class Call(NamedTuple):
    """One call to a backend: who made it, the how manieth to act, and how many entries it had."""

    actor: str
    verb: str
    entries: int

    @property
    def writes(self) -> bool:
        return self.entries > 0 and self.verb not in READS


@dataclass(frozen=True, kw_only=True)
class Point:
    number: int
    call: Call
    where: Where

    def __str__(self) -> str:
        return f"call {self.number}: {self.call.actor}, {self.where} {self.call.verb}"


class Knife:
    """Counts the calls of everybody who acts, and cuts at one of them. Whoever was cut makes no
    further call, whatever it catches on the way down."""

    def __init__(self, point: Point | None = None) -> None:
        self.point = point
        self.calls: list[Call] = []
        self.actor = ""
        self._fallen = False
        self._sheathed = False
        self._acts = 0

    @contextmanager
    def sheathed(self) -> Iterator[None]:
        """Nothing is cut, or counted."""
        before, self._sheathed = self._sheathed, True
        yield
        self._sheathed = before

    def next_actor(self, name: str) -> None:
        self._acts += 1
        self.actor = f"{name} {self._acts}"
        self._fallen = False

    def meet(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        if self._sheathed:
            return call(*arguments)
        if self._fallen:
            raise Cut
        number = len(self.calls)
        self.calls.append(Call(self.actor, verb, _entries(verb, arguments)))
        if self.point is None or self.point.number != number:
            return _made(call, *arguments)
        self._fallen = True
        if self.point.call != self.calls[-1]:
            raise AssertionError(f"not as before: {self.calls[-1]} instead of {self.point}")
        if self.point.where is Where.AFTER:
            _made(call, *arguments)
        elif self.point.where is Where.HALF:
            several, *rest = arguments
            _made(call, several[: len(several) // 2], *rest)
        raise Cut


class Shell:
    """A port of whoever acts, be it the store, the cursors or the lanes."""

    def __init__(self, port: Any, knife: Knife) -> None:
        self._port = port
        self._knife = knife

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._port, name)
        return partial(self._knife.meet, name, call) if name in VERBS else call


def points(calls: Sequence[Call], *, halves: bool) -> list[Point]:
    """Every cut of a life that makes these calls."""
    return [
        Point(number=number, call=call, where=where)
        for number, call in enumerate(calls)
        for where in Where
        if where is not Where.HALF or (halves and call.entries > 1)
    ]


def distinct(cuts: Sequence[Point]) -> list[Point]:
    """One of all the cuts that leave the same behind: the world only knows which of its writes
    an actor has made, so between two of them it does not matter where it is cut."""
    first = {cut.call.actor: cut for cut in reversed(cuts)}
    return [
        cut
        for cut in cuts
        if cut is first[cut.call.actor] or (cut.where is not Where.BEFORE and cut.call.writes)
    ]


def _entries(verb: str, arguments: Sequence[Any]) -> int:
    return len(arguments[0]) if verb in SEVERAL and not isinstance(arguments[0], str) else 1


def _made(call: Callable[..., Any], *arguments: Any) -> Any:
    """Wakes are read one by one, and nothing is done before the last: here they are all read."""
    answer = call(*arguments)
    return list(answer) if isinstance(answer, Iterator) else answer
