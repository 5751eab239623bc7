"""The sync of declared schedules after a deployment, as a custom resource of CloudFormation.

CloudFormation invokes the function with an event that has an address for the answer, and waits for
that answer. A failed sync fails the deployment, whose rollback syncs the schedules of the code
before it: with a new generation, so that they win. If the table does not answer, the sync is
repeated first, which is safe.
"""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from duetime.api.manifest_sync import Call, NotSynced, sync_manifest
from duetime.handlers.manifest import Manifest

log = logging.getLogger(__name__)

ANSWER_TIMEOUT = 10.0  # seconds
ATTEMPTS = 3
MAX_REASON = 1_000  # characters; CloudFormation takes an answer of 4 KB


def sync_after_deployment(
    event: Mapping[str, Any],
    read: Callable[[], tuple[Manifest, Call]],
    send: Callable[[str, bytes], None] | None = None,
) -> None:
    """Syncs the manifest that `read` returns, with the API to call, unless the resource is deleted,
    and sends the answer."""
    status, reason = "SUCCESS", ""
    if event["RequestType"] != "Delete":
        try:
            _sync(*read())
        except Exception as error:  # without an answer CloudFormation would wait
            log.exception("schedules not synced", extra={"step": "request"})
            status, reason = "FAILED", str(error)[:MAX_REASON]
    answer = {
        "Status": status,
        "Reason": reason,
        "PhysicalResourceId": "schedules",
        **{name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")},
    }
    (send or _send)(event["ResponseURL"], json.dumps(answer).encode())


def _sync(manifest: Manifest, call: Call) -> None:
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            plan = sync_manifest(manifest, call)
        except NotSynced as error:
            if error.status < 500 or not attempts_left:
                raise
        else:
            fields = {"step": "request", "app": manifest.app, "generation": plan["generation"]}
            log.info("schedules synced", extra=fields)
            return


def _send(url: str, answer: bytes) -> None:
    """The address is signed without a content type."""
    if not url.startswith("https://"):
        raise ValueError("the address for the answer is not one of CloudFormation")
    request = HttpRequest(url, answer, {"content-type": ""}, method="PUT")
    with urlopen(request, timeout=ANSWER_TIMEOUT):
        pass
