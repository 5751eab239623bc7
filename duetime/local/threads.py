"""Starting the runner's own threads, without which it cannot serve."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from lambdas.core.errors import DuetimeError


@contextmanager
def starting_threads() -> Iterator[None]:
    """A machine that allows no more threads gets a sentence, not a traceback."""
    try:
        yield
    except RuntimeError as error:
        remedy = "allow more processes (ulimit -u) or memory"
        raise DuetimeError(f"no more threads: {error}; {remedy}") from error


class Threads(ThreadPoolExecutor):
    """One thread at least. Where no more can be started, calls wait for those that there are."""

    def __init__(self, most: int, name: str) -> None:
        super().__init__(most, thread_name_prefix=name)
        with starting_threads():
            self.submit(int)

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise
