"""The thread that polls the files of handlers for changes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from duetime.api.manifest_sync import NotSynced
from duetime.core.errors import DuetimeError
from duetime.local.console import Notices
from duetime.local.declared_schedules import DeclaredSchedules
from duetime.local.reload import NotReloaded, Reloader
from duetime.supervised_threads import SupervisedThread

POLL_INTERVAL = 0.25  # seconds; a change is loaded once two polls in a row have seen it


@contextmanager
def watching(
    reloader: Reloader | None, notices: Notices, declared: DeclaredSchedules | None = None
) -> Iterator[None]:
    """Reloads changed handlers during the block, and syncs the schedules that they declare. If that
    fails, the runner goes on without it."""
    if reloader is None:
        yield
        return
    stopping = threading.Event()

    def watch() -> None:
        while not stopping.wait(POLL_INTERVAL):
            poll(reloader, notices, declared)

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


def poll(reloader: Reloader, notices: Notices, declared: DeclaredSchedules | None = None) -> None:
    try:
        reloaded = reloader.poll()
    except NotReloaded as error:
        notices.warn(f"handlers not reloaded: {error}; the loaded ones stay in use")
    else:
        if reloaded is not None:
            notices.reloaded(reloaded)
            if declared:
                _resync(declared, notices)


def sync_schedules(declared: DeclaredSchedules, notices: Notices) -> None:
    """Raises BadHandlers or NotSynced for a bad declaration. Code that declares no schedule any
    more is only warned about: its schedules stay as they are."""
    try:
        synced = declared.sync()
    except NotSynced as error:
        if not error.empty:
            raise
        notices.warn(f"{error}{declared.url_option}")
    else:
        if synced:
            notices.synced(synced)


def _resync(declared: DeclaredSchedules, notices: Notices) -> None:
    try:
        sync_schedules(declared, notices)
    except DuetimeError as error:
        notices.warn(f"schedules not synced: {error}; the stored ones stay in use")
