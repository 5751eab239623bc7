"""Why an action is made: the `Duetime-Reason` header, which the API logs with the actor."""

import logging
from urllib.parse import unquote

from duetime.api.access import right_of
from duetime.api.callers import Right
from duetime.api.http import FieldError, Request, Response, invalid

HEADER = "duetime-reason"
MAX_REASON = 256  # characters
REFUSED = (403, 422)

log = logging.getLogger(__name__)


def reason_of(request: Request) -> str | None:
    """Returns the reason, which is percent-encoded where it is not ASCII. Raises Problem."""
    sent = request.headers.get(HEADER, "")
    if not sent.isascii():
        message = "must be ASCII: percent-encode other characters, such as %C3%AB for ë"
        raise invalid([FieldError("Duetime-Reason", message)])
    reason = unquote(sent).strip()
    if len(reason) > MAX_REASON:
        message = f"must have at most {MAX_REASON} characters, not {len(reason)}"
        raise invalid([FieldError("Duetime-Reason", message)])
    if not reason.isprintable():
        raise invalid([FieldError("Duetime-Reason", "must be printable text in one line")])
    return reason or None


def log_action(request: Request, response: Response, path: str) -> None:
    """Logs an action that has a reason. What only reads, or was refused, is no action."""
    if HEADER not in request.headers or response.status in REFUSED:
        return
    reason = reason_of(request)
    if reason is None or right_of(request.method, request.path) is Right.READ:
        return
    fields = {
        "step": "request",
        "method": request.method,
        "path": path,
        "status": response.status,
        "actor": request.caller.actor,
        "reason": reason,
    }
    log.info("action requested", extra=fields)
