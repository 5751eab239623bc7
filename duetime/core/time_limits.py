"""The longest timeout of a task: of one without a pool, and in each pool."""

from collections.abc import Mapping
from dataclasses import field

from duetime.core.known_names import known_names
from duetime.core.task import LONGEST_TIMEOUT
from duetime.core.value import value


@value(frozen=True, slots=True)
class TimeLimits:
    """In seconds. A pool that is not in `pools` does not exist."""

    without_pool: int = LONGEST_TIMEOUT
    pools: Mapping[str, int] = field(default_factory=dict)

    def pool_error(self, pool: str | None) -> str | None:
        """Returns why a task cannot be in a pool; None if it can."""
        if pool is None or pool in self.pools:
            return None
        return f"there is no pool {pool!r}; {known_names(pool, self.pools)}"

    def timeout_error(self, timeout: float, pool: str | None) -> str | None:
        """Returns why a timeout is refused. An unknown pool is an error of its own."""
        if pool is not None:
            longest = self.pools.get(pool, LONGEST_TIMEOUT)
            return (
                f"must be at most {longest} seconds in pool {pool}" if timeout > longest else None
            )
        if timeout <= self.without_pool:
            return None
        more = [name for name, longest in self.pools.items() if timeout <= longest]
        instead = f", or give a pool: {', '.join(sorted(more))}" if more else ""
        return f"must be at most {self.without_pool} seconds here{instead}"
