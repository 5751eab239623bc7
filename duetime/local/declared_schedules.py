"""The schedules that the runner's handlers declare, synced at its start and after a reload."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from duetime.api.http import Request, Response
from duetime.core.codec import from_json, to_json
from duetime.core.errors import DuetimeError
from duetime.handlers.app_names import app_name
from duetime.handlers.manifest import Manifest, registered

Call = Callable[[Request], Response]

SYNC = "/v1/schedules/sync"
WORDS = {
    "create": "created",
    "change": "changed",
    "same": "unchanged",
    "detached": "detached",
    "removed": "paused: no longer in the code",
}


class NotSynced(DuetimeError):
    """Raised if the API refuses the schedules that the code declares. `empty` says that the code
    declares none any more."""

    def __init__(self, reason: str, *, empty: bool) -> None:
        super().__init__(reason)
        self.empty = empty


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
        manifest = registered(self._roots, app=self._app)
        taken = self._post(f"{SYNC}/generations", {"app": self._app}, manifest)
        body = {
            "app": self._app,
            "generation": taken["generation"],
            "schedules": manifest.schedules,
        }
        plan = self._post(SYNC, body, manifest)
        counts = Counter(step["action"] for step in plan["schedules"])
        parts = [f"{counts[action]} {word}" for action, word in WORDS.items() if counts[action]]
        return ", ".join(parts) or None

    def _post(self, path: str, body: dict[str, Any], manifest: Manifest) -> Any:
        request = Request(
            method="POST",
            path=path,
            headers={"content-type": "application/json"},
            body=to_json(body).encode(),
        )
        response = self._call(request)
        answer = from_json(response.encoded())
        if response.status >= 400:
            raise NotSynced(f"schedules: {answer['detail']}", empty=not manifest.schedules)
        return answer
