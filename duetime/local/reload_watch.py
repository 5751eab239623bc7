"""The thread that polls the files of handlers for changes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from duetime.local.console import Notices
from duetime.local.reload import NotReloaded, Reloader
from duetime.local.supervisor import SupervisedThread

POLL_INTERVAL = 0.25  # seconds; a change is loaded once two polls in a row have seen it


@contextmanager
def watching(reloader: Reloader | None, notices: Notices) -> Iterator[None]:
    """Reloads changed handlers during the block. If that fails, the runner goes on without it."""
    if reloader is None:
        yield
        return
    stopping = threading.Event()

    def watch() -> None:
        while not stopping.wait(POLL_INTERVAL):
            poll(reloader, notices)

    def fail(reason: str) -> None:
        notices.warn(f"handlers are no longer reloaded: {reason}")

    thread = SupervisedThread(watch, "reload", stopping=stopping, on_failure=fail)
    try:
        thread.start()
    except RuntimeError as error:
        fail(str(error))
    try:
        yield
    finally:
        stopping.set()


def poll(reloader: Reloader, notices: Notices) -> None:
    try:
        reloaded = reloader.poll()
    except NotReloaded as error:
        notices.warn(f"handlers not reloaded: {error}; the loaded ones stay in use")
    else:
        if reloaded is not None:
            notices.reloaded(reloaded)
