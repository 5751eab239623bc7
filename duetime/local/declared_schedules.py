"""The schedules that the runner's handlers declare, synced at its start and after a reload."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from duetime.api.manifest_sync import Call, sync_manifest
from duetime.handlers.app_names import app_name
from duetime.handlers.manifest import registered

WORDS = {
    "create": "created",
    "change": "changed",
    "same": "unchanged",
    "detached": "detached",
    "removed": "paused: no longer in the code",
}


class DeclaredSchedules:
    """Syncs the schedules of the handlers that are registered now. `sources` are what the user gave
    as --handlers; the first of them decides the name of the app."""

    def __init__(self, sources: Sequence[str], call: Call) -> None:
        self._app = app_name(sources[0])
        # As they are now: a handler may change the working directory.
        paths = [Path(source).absolute() for source in sources if Path(source).exists()]
        self._roots = [path if path.is_dir() else path.parent for path in paths]
        self._call = call

    def sync(self) -> str | None:
        """Returns what has changed, in a few words; None if the code declares no schedule. Raises
        BadHandlers or NotSynced, and has then stored nothing."""
        plan = sync_manifest(registered(self._roots, app=self._app), self._call)
        counts = Counter(step["action"] for step in plan["schedules"])
        parts = [f"{counts[action]} {word}" for action, word in WORDS.items() if counts[action]]
        return ", ".join(parts) or None
