"""The schedules that the runner's handlers declare, synced at its start and after a reload."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from duetime.api.manifest_sync import Call, sync_manifest
from duetime.handlers.app_names import app_name
from duetime.handlers.manifest import registered
from duetime.local.console import DEFAULT_URL

WORDS = {
    "create": "created",
    "change": "changed",
    "same": "unchanged",
    "detached": "detached",
    "removed": "paused: no longer in the code",
}


class DeclaredSchedules:
    """Syncs the schedules of the handlers that are registered now. `sources` are what the user gave
    as --handlers; the first of them decides the name of the app. `url` is the runner's address."""

    def __init__(self, sources: Sequence[str], call: Call, url: str = DEFAULT_URL) -> None:
        self.url_option = "" if url == DEFAULT_URL else f" --url {url}"
        self._app = app_name(sources[0])
        # As they are now: a handler may change the working directory.
        paths = [Path(source).absolute() for source in sources if Path(source).exists()]
        self._roots = [path if path.is_dir() else path.parent for path in paths]
        self._call = call

    def sync(self) -> str | None:
        """Returns what has changed, in a few words; None if the code declares no schedule. Raises
        BadHandlers or NotSynced, and has then stored nothing."""
        plan = sync_manifest(registered(self._roots, app=self._app), self._call)
        counts = Counter(step["action"] for step in plan["schedules"] if not _is_old(step))
        parts = [f"{counts[action]} {word}" for action, word in WORDS.items() if counts[action]]
        return ", ".join(parts) or None


def _is_old(step: Mapping[str, Any]) -> bool:
    """Whether a schedule has left the code, and this sync has not paused it: the note says why."""
    return step["action"] == "removed" and step["note"] is not None
