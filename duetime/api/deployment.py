"""The sync of declared schedules after a deployment, as a custom resource of CloudFormation.

CloudFormation invokes the function with an event that has an address for the answer, and waits for
that answer. A failed sync fails the deployment, whose rollback syncs the schedules of the code
before it: with a new generation, so that they win.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from duetime.api.http import Request, Response
from duetime.handlers.manifest import Manifest

log = logging.getLogger(__name__)

SYNC = "/v1/schedules/sync"
ANSWER_TIMEOUT = 10.0  # seconds
MAX_REASON = 1_000  # characters; CloudFormation takes an answer of 4 KB

Call = Callable[[Request], Response]


def sync_after_deployment(
    event: Mapping[str, Any],
    manifest: Manifest,
    call: Call,
    send: Callable[[str, bytes], None] | None = None,
) -> None:
    """Syncs the manifest unless the resource is deleted, and sends the answer."""
    status, reason = "SUCCESS", ""
    if event["RequestType"] != "Delete":
        try:
            _sync(manifest, call)
        except Exception as error:  # CloudFormation would wait for an hour
            log.exception("schedules not synced", extra={"step": "request", "app": manifest.app})
            status, reason = "FAILED", str(error)[:MAX_REASON]
    answer = {
        "Status": status,
        "Reason": reason,
        "PhysicalResourceId": f"schedules of {manifest.app}",
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    (send or _send)(event["ResponseURL"], json.dumps(answer).encode())


def _sync(manifest: Manifest, call: Call) -> None:
    taken = _post(call, f"{SYNC}/generations", {"app": manifest.app})
    body = {"generation": taken["generation"], "schedules": manifest.schedules}
    plan = _post(call, SYNC, {"app": manifest.app, **body})
    log.info(
        "schedules synced",
        extra={"step": "request", "app": manifest.app, "generation": plan["generation"]},
    )


def _post(call: Call, path: str, body: Mapping[str, Any]) -> Any:
    headers = {"content-type": "application/json"}
    response = call(
        Request(method="POST", path=path, headers=headers, body=json.dumps(body).encode())
    )
    answer = json.loads(response.encoded())
    if response.status >= 400:
        raise ValueError(f"{answer['title']}: {answer['detail']}")
    return answer


def _send(url: str, answer: bytes) -> None:
    """The address is signed without a content type."""
    if not url.startswith("https://"):
        raise ValueError("the address for the answer is not one of CloudFormation")
    request = HttpRequest(url, answer, {"content-type": ""}, method="PUT")
    with urlopen(request, timeout=ANSWER_TIMEOUT):
        pass
