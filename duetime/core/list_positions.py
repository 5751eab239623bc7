"""How far a list has been read. A cursor is a position in the order of the list, so it holds no
filter, and stays valid while tasks come and go."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

from duetime.core.ids import is_id
from duetime.core.times import DAY, Millis
from duetime.core.value import value

NOT_A_CURSOR = "not a cursor of this list"
LAST = "~"  # sorts after every id
_LATEST_DAY = 253_402_300_799_999 // DAY  # in the year 9999


@value(frozen=True, kw_only=True, slots=True)
class Newest:
    """A position in the order `newest`: by the UTC day of creation, and within it by the id, which
    begins with the time of submission or, for a run of a schedule, with its fire time."""

    day: int
    below: str | None = None  # None: before the first task of the day

    @property
    def key(self) -> tuple[int, str]:
        """Tasks whose (day, id) is less are still to be read."""
        return self.day, LAST if self.below is None else self.below

    def cursor(self) -> str:
        return _encode(f"{self.day}/{self.below or ''}")


@value(frozen=True, kw_only=True, slots=True)
class Soonest:
    """A position in the order `soonest`: by the due time, then by the id."""

    due_at: Millis
    above: str = ""  # empty: before the first task that is due then

    @property
    def key(self) -> tuple[Millis, str]:
        """Tasks whose (due time, id) is greater are still to be read."""
        return self.due_at, self.above

    def cursor(self) -> str:
        return _encode(f"due/{self.due_at}/{self.above}")


def newest_from(cursor: str | None, *, latest: int) -> Newest:
    """Returns where to read on; without a cursor, from the day `latest`. Raises ValueError for a
    text that is not a cursor of this order."""
    if cursor is None:
        return Newest(day=latest)
    day, _, below = _decode(cursor).partition("/")
    position = Newest(day=_number(day), below=below or None)
    known = position.below is None or is_id(position.below)
    if not known or position.cursor() != cursor or not 0 <= position.day <= _LATEST_DAY:
        raise ValueError(NOT_A_CURSOR)
    return Newest(day=latest) if position.day > latest else position


def soonest_from(cursor: str | None, *, earliest: Millis) -> Soonest:
    if cursor is None:
        return Soonest(due_at=earliest)
    _, _, rest = _decode(cursor).partition("/")
    due_at, _, above = rest.partition("/")
    position = Soonest(due_at=_number(due_at), above=above)
    if position.cursor() != cursor or not (above == "" or is_id(above)) or position.due_at < 0:
        raise ValueError(NOT_A_CURSOR)
    return position


def _encode(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode()


def _decode(cursor: str) -> str:
    try:
        return urlsafe_b64decode(cursor.encode()).decode()
    except ValueError:
        raise ValueError(NOT_A_CURSOR) from None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValueError(NOT_A_CURSOR)
    return int(text)
