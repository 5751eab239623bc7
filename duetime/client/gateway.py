"""What a gateway refuses before Duetime is asked, and what helps."""

import re
from typing import Any

import httpx

from duetime.client.access import Proof
from duetime.client.errors import ApiError, Throttled, Unreachable
from lambdas.core.errors import DuetimeError

WHO_ASKS = {
    Proof.NOTHING: "set DUETIME_SIGN to the AWS region of the API, or set DUETIME_TOKEN",
    Proof.SIGNATURE: "allow these AWS credentials execute-api:Invoke, or set another AWS_PROFILE",
    Proof.TOKEN: "get a new token and set DUETIME_TOKEN, or unset it to sign",
}
WANTS_A_TOKEN = "it wants a token: set DUETIME_TOKEN"
LOOK = "look how Duetime is doing, then try again"

# Of a signed request, by a part of what the gateway says.
SIGNED = {
    "is expired": "sign in again with `aws sso login`, or set new keys with `aws configure`",
    "request is invalid": "AWS does not know these credentials: set another AWS_PROFILE",
    "does not match": "check the secret key with `aws configure`",
    "Signature expired": "set this machine's clock",
    "Signature not yet": "set this machine's clock",
    "valid region": "set DUETIME_SIGN to the region of the API",
    "Missing Authentication Token": "nothing is there: check DUETIME_URL and its stage",
}


def refusal(response: httpx.Response, told: dict[str, Any], url: str, proof: Proof) -> DuetimeError:
    status, title = response.status_code, response.reason_phrase
    said = told.get("message") or title
    match status:
        case 401 | 403:
            words = [_reason(response), said, _remedy(status, str(said), proof)]
            return ApiError(status, title, "; ".join(w for w in words if w and w != title))
        case 404:
            return Unreachable(url, "Nobody knows this path", "check DUETIME_URL and its stage")
        case 429:
            return Throttled(status, title, "the API is throttled; wait a moment and try again")
        case 503 | 504:
            return Unreachable(url, f"The gateway says {said!r}", LOOK)
        case _:
            return ApiError(status, title, told.get("message"))


def _remedy(status: int, said: str, proof: Proof) -> str:
    if status == 401 and proof is not Proof.TOKEN:
        return WANTS_A_TOKEN
    if proof is Proof.SIGNATURE:
        return next((do for part, do in SIGNED.items() if part in said), WHO_ASKS[proof])
    return WHO_ASKS[proof]


def _reason(response: httpx.Response) -> str | None:
    """What a JWT authorizer has against a token."""
    header = response.headers.get("www-authenticate", "")
    found = re.search(r'error_description="([^"]*)"', header)
    return found and found[1]
