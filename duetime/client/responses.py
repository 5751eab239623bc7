"""Answers as values: what a response means, as a value or as an error that says what to do."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from duetime.client.auth import AuthMethod
from duetime.client.errors import ApiError, FieldError, Throttled, Unreachable, error_class
from duetime.core.errors import DuetimeError

REMEDIES = {
    AuthMethod.NONE: "set DUETIME_SIGN to the AWS region of the API, or set DUETIME_TOKEN",
    AuthMethod.SIGNATURE: "allow these AWS credentials execute-api:Invoke,"
    " or set another AWS_PROFILE",
    AuthMethod.TOKEN: "get a new token and set DUETIME_TOKEN, or unset it to sign",
}
TOKEN_NEEDED = "the API needs a token: set DUETIME_TOKEN"
CHECK_HEALTH = "check the health of Duetime, then try again"

# For a signed request: part of the gateway's message, and the remedy.
SIGNATURE_REMEDIES = {
    "is expired": "sign in again with `aws sso login`, or set new keys with `aws configure`",
    "request is invalid": "AWS does not know these credentials: set another AWS_PROFILE",
    "does not match": "check the secret key with `aws configure`",
    "Signature expired": "set this machine's clock",
    "Signature not yet": "set this machine's clock",
    "valid region": "set DUETIME_SIGN to the region of the API",
    "Missing Authentication Token": "the API has no such path: check DUETIME_URL and its stage",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """What arrived. The names of the headers are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a call gets. `waited`: the server has honoured `Prefer: wait`."""

    status: int
    value: Any
    waited: bool = False


def read(response: Response, sent: Any, *, url: str, method: AuthMethod) -> Answer:
    """Returns the answer, or raises the error that the response is. `sent` is the body of the
    request; `method` is how the request was authenticated."""
    if not 200 <= response.status < 300:
        raise _problem(response, sent, url, method)
    waited = "wait" in response.headers.get("preference-applied", "")
    if response.status == HTTPStatus.NO_CONTENT:
        return Answer(status=response.status, value=None)
    try:
        return Answer(status=response.status, value=json.loads(response.content), waited=waited)
    except ValueError as reason:
        what = "A server that is not Duetime answers"
        raise Unreachable(url, what, "check DUETIME_URL", temporary=False) from reason


def to_error(problem: Mapping[str, Any], status: int, sent: Any = None) -> ApiError:
    errors = [_field_error(error, sent) for error in problem.get("errors") or ()]
    title = problem.get("title") or f"HTTP {status}"
    return error_class(status)(status, title, problem.get("detail"), errors, problem)


def _problem(response: Response, sent: Any, url: str, method: AuthMethod) -> DuetimeError:
    """An answer without a title is not from Duetime but from a gateway in front of it."""
    body = _object(response)
    if "title" in body:
        error: DuetimeError = to_error(body, response.status, sent)
    else:
        error = _gateway_error(response, body, url, method)
    if isinstance(error, ApiError | Unreachable):
        error.retry_after = _seconds(response.headers.get("retry-after"))
    return error


def _field_error(error: Mapping[str, Any], sent: Any) -> FieldError:
    field, position = str(error["field"]), error.get("position")
    if position is None:
        return FieldError(field, str(error["message"]))
    return FieldError(field, str(error["message"]), position, _text_at(sent, field))


def _text_at(sent: Any, path: str) -> str | None:
    """Returns the submitted text at a path such as `rules.0.expression`."""
    for part in path.split("."):
        match sent:
            case dict() if part in sent:
                sent = sent[part]
            case list() if part.isdigit() and int(part) < len(sent):
                sent = sent[int(part)]
            case _:
                return None
    return sent if isinstance(sent, str) else None


def _seconds(text: str | None) -> float | None:
    """Reads a Retry-After in seconds. A date is ignored: it is for caches."""
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


def _object(response: Response) -> dict[str, Any]:
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _gateway_error(
    response: Response, body: dict[str, Any], url: str, method: AuthMethod
) -> DuetimeError:
    """Returns the error for an answer that comes from an API gateway, not from Duetime."""
    status, title = response.status, response.reason
    message = body.get("message") or title
    match status:
        case 401 | 403:
            parts = [_token_error(response), message, _remedy(status, str(message), method)]
            return ApiError(status, title, "; ".join(p for p in parts if p and p != title))
        case 404:
            what, remedy = "There is no such path", "check DUETIME_URL and its stage"
            return Unreachable(url, what, remedy, temporary=False)
        case 429:
            return Throttled(status, title, "the API is throttled; wait a moment and try again")
        case 503 | 504:
            return Unreachable(url, f"The gateway says {message!r}", CHECK_HEALTH)
        case _:
            return error_class(status)(status, title, body.get("message"))


def _remedy(status: int, message: str, method: AuthMethod) -> str:
    if status == 401 and method is not AuthMethod.TOKEN:
        return TOKEN_NEEDED
    if method is AuthMethod.SIGNATURE:
        for part, remedy in SIGNATURE_REMEDIES.items():
            if part in message:
                return remedy
    return REMEDIES[method]


def _token_error(response: Response) -> str | None:
    """Returns why a JWT authorizer refused a token."""
    header = response.headers.get("www-authenticate", "")
    found = re.search(r'error_description="([^"]*)"', header)
    return found and found[1]
