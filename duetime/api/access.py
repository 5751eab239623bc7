"""The right that each route needs.

A GET needs `read`, every other method `operate`; a dry run needs the right of its action. The calls
of HTTP workers need `work`, which allows nothing else. The exceptions are in one table. The API
refuses a caller who lacks the right; the gateway of a stage with scopes and the proxy of `duetime
console` decide by the same table.
"""

from collections.abc import Mapping

from duetime.api.callers import Caller, Right
from duetime.api.http import Problem, Request

CALLBACK = "/v1/callbacks/"
READING_POSTS = ("/v1/schedules/preview", "/v1/live/tickets")
READING_METHODS = ("GET", "HEAD")
WORKER_CALLS = tuple(f"/v1/workers/{call}" for call in ("lease", "renew", "outcome", "submit"))
LEASE = WORKER_CALLS[0]

# None: no right. The token in the path of a callback is its authorization.
EXCEPTIONS: Mapping[str, Right | None] = {
    **{f"POST {path}": Right.READ for path in READING_POSTS},
    **{f"POST {path}": Right.WORK for path in WORKER_CALLS},
    "POST /v1/callbacks/{token}": None,
}


def right_of(method: str, path: str) -> Right | None:
    """Returns the right that a request needs, or a route: `/v1/tasks/{id}` is a path, too."""
    if path.startswith(CALLBACK):
        path = f"{CALLBACK}{{token}}"
    default = Right.READ if method in READING_METHODS else Right.OPERATE
    return EXCEPTIONS.get(f"{method} {path}", default)


def refusal(request: Request, caller: Caller) -> Problem | None:
    """Returns the answer to a caller who lacks the right that the request needs."""
    needed = right_of(request.method, request.path)
    if needed is None or needed in caller.rights:
        return None
    held = " and ".join(f"`{right}`" for right in sorted(caller.rights)) or "none"
    detail = f"{request.method} {request.path} needs the right `{needed}`; this caller has {held}."
    return Problem(403, "forbidden", "Not allowed", detail)
