"""What handlers ask the executor. Threads answer it, since an answer may need the store."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

MAX_THREADS = 16


class Questions:
    """One thread asks and closes; the lock is for the count, which the answering threads change."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._threads = 0
        self._lock = threading.Lock()
        self._open = 0  # asked and not yet answered

    def ask(self, answer: Callable[[], object]) -> None:
        """Have a thread call `answer`. Raises RuntimeError if there can be no thread."""
        with self._lock:
            self._open += 1
            wanted = min(self._open, MAX_THREADS)
        if self._threads < wanted:
            name = f"handler-answers-{self._threads}"
            try:
                threading.Thread(target=self._run, name=name, daemon=True).start()
                self._threads += 1
            except RuntimeError:  # the existing ones do it
                if not self._threads:
                    raise
        self._queue.put(answer)

    def close(self) -> None:
        for _ in range(self._threads):
            self._queue.put(None)

    def _run(self) -> None:
        while (answer := self._queue.get()) is not None:
            answer()
            with self._lock:
                self._open -= 1
