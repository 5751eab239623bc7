"""The caller that API Gateway has authorized: an IAM identity, or the holder of a JWT."""

import re
from collections.abc import Mapping
from typing import Any

from duetime.api.callers import OPERATING, READ_ONLY, Caller, Right

# A claim with several scopes is one text, and a list becomes a text in brackets.
_SCOPES = re.compile(r"[^\s,\[\]]+")


def caller_of(authorizer: Mapping[str, Any], scopes: str) -> Caller:
    """Returns the caller from the part `authorizer` of an event.

    `scopes` are the scopes for `read` and `operate`; empty if any token has both rights, as an
    identity has: its policy, which the gateway checks, may allow less. A deployed API has no
    calls of HTTP workers, so no caller has the right `work`."""
    if identity := authorizer.get("iam"):
        arn = identity.get("userArn")
        return Caller(actor=arn, rights=OPERATING, authorization="signature")
    claims = authorizer.get("jwt", {}).get("claims", {})
    if not claims:
        return Caller(rights=OPERATING)
    rights = _rights(claims, scopes)
    return Caller(actor=claims.get("sub"), rights=rights, authorization="token")


def _rights(claims: Mapping[str, Any], scopes: str) -> frozenset[Right]:
    if not scopes:
        return OPERATING
    read, operate = scopes.split(" ")
    granted = _SCOPES.findall(f"{claims.get('scope', '')} {claims.get('scp', '')}")
    if operate in granted:
        return OPERATING
    return READ_ONLY if read in granted else frozenset()
