"""The interfaces of the stores of limits. See duetime.core.ports for the others."""

from collections.abc import Sequence
from typing import Protocol

from duetime.core.change import Unknown
from duetime.core.limits.definition import Limit, Rate
from duetime.core.limits.rate import RateKey, RateState, SlotRequest
from duetime.core.times import SECOND, Millis
from duetime.core.value import value

RECENT: Millis = 5 * SECOND  # how old an answer of `LimitStore.recent` may be


@value(frozen=True, kw_only=True, slots=True)
class LimitListing:
    """Which limits to list, by namespace and name. Without a namespace, those of all."""

    namespace: str | None = "default"
    limit: int = 50
    cursor: str | None = None


@value(frozen=True, kw_only=True, slots=True)
class LimitPage:
    limits: Sequence[Limit]
    cursor: str | None


class LimitStore(Protocol):
    """The limits as they were defined. Who holds them, and who waits, is stored elsewhere."""

    def put(self, limit: Limit) -> Limit:
        """Creates or replaces a limit, and returns it as it is stored: `created_at` stays what it
        was. Repeating it changes nothing."""
        ...

    def get(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        """Returns the limits that exist, after every write that was answered."""
        ...

    def recent(self, namespace: str, names: Sequence[str]) -> dict[str, Limit]:
        """Like `get`, but a limit may be what it was up to 5 s ago. A limit that this process has
        not seen in that time is read."""
        ...

    def page(self, listing: LimitListing) -> LimitPage: ...

    def delete(self, limit: Limit) -> None:
        """Deletes a limit, unless it has been put again since it was read. Repeating it changes
        nothing."""
        ...


class RateStore(Protocol):
    """The clocks of the rate limits: which times they have handed out. A limit that was not used
    for a day has no row."""

    def reserve(self, requests: Sequence[SlotRequest]) -> list[Sequence[Millis] | Unknown]:
        """Hands out the next free times of each limit, in one write for each request. Times whose
        answer is lost stay handed out: they are wasted, and no one else gets them."""
        ...

    def states(self, keys: Sequence[RateKey]) -> list[RateState]:
        """Returns the state of each limit, after every write that was answered."""
        ...

    def block(self, key: RateKey, rate: Rate, until: Millis) -> None:
        """Hands out no time before `until` any more. Repeating it changes nothing; a later time
        replaces an earlier one."""
        ...
