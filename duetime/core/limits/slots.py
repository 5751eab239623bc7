"""Numbered slots and the line in front of them, as values, and the store that keeps them.

A limit with `concurrency: c` has the slots 0 to c - 1, for each key that tasks use it with. A slot
names the one delivery that may run in it. A task that finds no free slot waits in the line.

A slot names a delivery by its token, so it needs no timeout: a token can start one attempt, and the
task itself says whether that attempt is still to start, runs or has ended. Once it has ended, or
the task has another token, the slot is void, and stays so: no later write makes it valid again. So
two processes may both take a slot for void, whenever they have read it.
"""

from collections.abc import Sequence
from typing import Protocol

from duetime.core.times import Millis
from duetime.core.value import value
from duetime.core.wakes import Wake

HEADS = 10  # places of a line that are read with its slots

_ESCAPES = (("%", "%25"), ("/", "%2F"), ("#", "%23"))


@value(frozen=True, kw_only=True, slots=True)
class Line:
    """Tasks that share slots: those under one limit with one key, or with one ordering key."""

    namespace: str
    limit: str | None  # None: the line of an ordering key
    key: str

    @property
    def id(self) -> str:
        """The line as one text without `#`, which separates the parts of a wake's key."""
        return "/".join(_escaped(part) for part in (self.namespace, self.limit or "", self.key))


def line_of(line_id: str) -> Line:
    """Returns the line with this id."""
    namespace, limit, key = (_unescaped(part) for part in line_id.split("/"))
    return Line(namespace=namespace, limit=limit or None, key=key)


def _escaped(text: str) -> str:
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return text


def _unescaped(text: str) -> str:
    for character, escape in reversed(_ESCAPES):
        text = text.replace(escape, character)
    return text


@value(frozen=True, kw_only=True, slots=True)
class Slot:
    """A slot that is taken."""

    number: int
    task_id: str
    token: str  # of the delivery that may run in it; empty: of every delivery of the task
    since: Millis

    def names(self, other: "Slot") -> bool:
        return (self.task_id, self.token) == (other.task_id, other.token)


@value(frozen=True, kw_only=True, slots=True)
class Place:
    """The place of a waiting task. Places are ordered by position, then by id."""

    position: Millis
    task_id: str
    since: Millis = 0  # when the task joined


@value(frozen=True, kw_only=True, slots=True)
class LineState:
    """All taken slots, and the first places."""

    slots: Sequence[Slot] = ()
    places: Sequence[Place] = ()


@value(frozen=True, kw_only=True, slots=True)
class SlotWrite:
    """Replaces what a slot names, on condition that it still names `before`."""

    line: Line
    before: Slot | None  # None: the slot is free
    after: Slot | None  # None: it becomes free


class SlotStore(Protocol):
    """The slots and the lines. A call that the backend does not answer raises Unavailable, and any
    of its writes may have been made: each may be repeated."""

    def read(self, lines: Sequence[Line]) -> list[LineState]:
        """Returns each line after every write that was answered."""
        ...

    def replace(self, writes: Sequence[SlotWrite]) -> list[bool]:
        """Makes each write whose condition holds. Returns whether each slot is now as wanted: a
        repeated write recognises its own effect."""
        ...

    def join(self, places: Sequence[tuple[Line, Place]]) -> None:
        """Puts each place. Repeating it changes nothing."""
        ...

    def leave(self, places: Sequence[tuple[Line, Place]]) -> None:
        """Deletes each place. Repeating it changes nothing."""
        ...

    def waiting(self, places: Sequence[tuple[Line, Place]]) -> list[bool]:
        """Returns whether each place exists, whatever its `since`."""
        ...

    def count_waiting(self, line: Line) -> int:
        """Returns how many places a line has. Reads all of them."""
        ...

    def in_use(self, namespace: str, limit: str) -> bool:
        """Whether a slot of a limit is taken, or a task waits for one. The SQLite backend looks at
        every key, the AWS backend only at tasks without a key."""
        ...

    def watch_of(self, line: Line) -> Wake | None:
        """Returns the line's watch."""
        ...

    def move_watch(self, line: Line, before: Wake | None, after: Wake | None) -> bool:
        """Replaces the line's watch if it is still `before`. Returns whether it is now `after`."""
        ...
