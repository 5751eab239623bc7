"""Cuts: an actor dies before a call to a backend, after it, or in the middle of it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tests.faulty_ports import VERBS, FaultyPort

READ = "get exist wakes few_wakes page dead ended attempts ledger shards load depth states"
READ += " read waiting watch_of definitions workflow version_digest"
READS = frozenset(READ.split(" "))
# Calls that make many requests. (A schedule is deleted by itself.)
SEVERAL = frozenset(
    {
        *("put", "apply", "reserve", "take_keys", "write_ledger", "send", "delete", "remove"),
        *("replace", "join", "leave"),
    }
)
if unknown := (READS | SEVERAL) - VERBS:
    raise AssertionError(f"no verbs of a port: {unknown}")


class Cut(BaseException):
    """The actor died."""


class Where(StrEnum):
    BEFORE = "before"  # the call was not made
    HALF = "half"  # only the first of its requests were made
    AFTER = "after"  # it was made, and the caller never sees the answer


class Call(NamedTuple):
    """One call to a backend. `actor` is the role and the number of its act; `entries` is how many
    requests the call makes."""

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


class Cutter:
    """Counts the calls of all actors, and cuts one of them.

    An actor that was cut makes no further call, even if it catches the exception."""

    def __init__(self, point: Point | None = None) -> None:
        self.point = point
        self.calls: list[Call] = []
        self.actor = ""
        self._is_cut = False
        self._paused = False
        self._acts = 0

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Neither counts nor cuts calls within the block."""
        before, self._paused = self._paused, True
        yield
        self._paused = before

    def next_actor(self, name: str) -> None:
        self._acts += 1
        self.actor = f"{name} {self._acts}"
        self._is_cut = False

    def call(self, verb: str, call: Callable[..., Any], *arguments: Any) -> Any:
        if self._paused:
            return call(*arguments)
        if self._is_cut:
            raise Cut
        number = len(self.calls)
        self.calls.append(Call(self.actor, verb, _entries(verb, arguments)))
        if self.point is None or self.point.number != number:
            return _made(call, *arguments)
        self._is_cut = True
        if self.point.call != self.calls[-1]:
            raise AssertionError(f"not as before: {self.calls[-1]} instead of {self.point}")
        if self.point.where is Where.AFTER:
            _made(call, *arguments)
        elif self.point.where is Where.HALF:
            several, *rest = arguments
            _made(call, several[: len(several) // 2], *rest)
        raise Cut


class CutPort(FaultyPort):
    """A port of the actor: the store, the schedules, the cursors or the lanes."""

    def __init__(self, port: Any, cutter: Cutter) -> None:
        super().__init__(port)
        self._call = cutter.call


def possible_cuts(calls: Sequence[Call], *, halves: bool) -> list[Point]:
    """Returns every possible cut of a scenario that makes these calls."""
    return [
        Point(number=number, call=call, where=where)
        for number, call in enumerate(calls)
        for where in Where
        if where is not Where.HALF or (halves and call.entries > 1)
    ]


def distinct_cuts(cuts: Sequence[Point]) -> list[Point]:
    """Returns one of each set of cuts that have the same effect. Only the writes of an actor have
    an effect, so between two writes it does not matter where the actor is cut."""
    first = {cut.call.actor: cut for cut in reversed(cuts)}
    return [
        cut
        for cut in cuts
        if cut is first[cut.call.actor] or (cut.where is not Where.BEFORE and cut.call.writes)
    ]


def _entries(verb: str, arguments: Sequence[Any]) -> int:
    return len(arguments[0]) if verb in SEVERAL and not isinstance(arguments[0], str) else 1


def _made(call: Callable[..., Any], *arguments: Any) -> Any:
    """Makes the call and reads an iterator to its end, so that a read is one call."""
    answer = call(*arguments)
    return list(answer) if isinstance(answer, Iterator) else answer
