"""What fails a test that uses the kit."""

from duetime.core.errors import DuetimeError, PermanentError


class UndeclaredRequest(AssertionError):
    """A task called a URL for which the test has declared no route. No connection was opened."""


class UndeclaredTarget(AssertionError):
    """A task has a target of a type that the test has not declared in `World.targets`."""


class WaitInsideHandler(PermanentError):
    """A handler waited for another task, or moved the clock. The world has one thread, which runs
    the handler, so the wait would never end."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} inside a handler would wait for ever: the world has one thread, and it runs"
            " this handler. Submit the next step as a task instead, or wait in the test."
        )


class TooManyRuns(DuetimeError):
    """One call of `advance`, `drain` or `wait` ran more tasks than a world allows."""

    def __init__(self, limit: int, busiest: str) -> None:
        super().__init__(
            f"more than {limit:,} runs in one call, most of them of {busiest}. Advance in smaller"
            " steps, pause its schedule first, or allow more: world(max_runs=…)"
        )
