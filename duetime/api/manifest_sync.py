"""The sync of a manifest in the process of the API: the local runner, or a deployed function."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from duetime.api.http import Request, Response
from duetime.core.errors import DuetimeError
from duetime.handlers.manifest import Manifest

SYNC = "/v1/schedules/sync"

Call = Callable[[Request], Response]


class NotSynced(DuetimeError):
    """Raised if the API refuses the schedules that the code declares. `status` is that of its
    answer; `empty`: because the code declares none any more."""

    def __init__(self, reason: str, *, status: int, empty: bool) -> None:
        super().__init__(reason)
        self.status = status
        self.empty = empty


def sync_manifest(manifest: Manifest, call: Call) -> Any:
    """Takes a generation, syncs the manifest with it and returns what has been done."""
    taken = _post(manifest, call, f"{SYNC}/generations", {"app": manifest.app})
    body = {"generation": taken["generation"], "schedules": manifest.schedules}
    return _post(manifest, call, SYNC, {"app": manifest.app, **body})


def _post(manifest: Manifest, call: Call, path: str, body: Mapping[str, Any]) -> Any:
    headers = {"content-type": "application/json"}
    sent = json.dumps(body).encode()
    response = call(Request(method="POST", path=path, headers=headers, body=sent))
    answer = json.loads(response.encoded())
    if response.status >= 400:
        empty = answer["type"].endswith(":empty-manifest")
        retire = f"run: duetime sync --app {manifest.app} --retire"
        reason = answer["detail"].replace("sync with allow_empty.", retire)
        raise NotSynced(f"schedules: {reason}", status=response.status, empty=empty)
    return answer
