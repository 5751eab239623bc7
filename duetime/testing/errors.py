"""What fails a test that uses the kit."""

from duetime.core.errors import DuetimeError


class UndeclaredRequest(AssertionError):
    """A task called a URL for which the test has declared no route. No connection was opened."""


class UndeclaredTarget(AssertionError):
    """A task has a target of a type that the test has not declared in `World.targets`."""


class TooManyRuns(DuetimeError):
    """One call of `advance`, `drain` or `wait` ran more tasks than a world allows."""

    def __init__(self, limit: int, busiest: str) -> None:
        super().__init__(
            f"more than {limit:,} runs in one call, most of them of {busiest}. Advance in smaller"
            " steps, pause its schedule first, or allow more: world(max_runs=…)"
        )
