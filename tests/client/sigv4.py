"""AWS Signature Version 4, as the server verifies it.

Written from the specification and not from an SDK: canonical request, string to sign, derived
key. The published examples in test_sigv4.py check the checker.
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote, unquote

HEADER = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<id>[^/]+)/[^,]+, ?"
    r"SignedHeaders=(?P<headers>[^,]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
UNRESERVED = "-_.~"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it arrived. The names of its headers are in lower case."""

    method: str
    target: str  # path and query, as in the request line
    headers: Mapping[str, str]
    body: bytes


def signed_by(asked: Asked, secrets: Mapping[str, str], *, region: str, service: str) -> str | None:
    """Whose key the request is signed with; None if it is not, or not for this place."""
    found = HEADER.fullmatch(asked.headers.get("authorization", ""))
    if not found or found["id"] not in secrets:
        return None
    moment, signed = asked.headers["x-amz-date"], found["headers"].split(";")
    scope = f"{moment[:8]}/{region}/{service}/aws4_request"
    binding = {"host"} | {name for name in asked.headers if name.startswith("x-amz-")}
    if not binding <= set(signed):
        return None
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{_hash(canonical(asked, signed).encode())}"
    expected = _mac(_key(secrets[found["id"]], scope), text).hex()
    return found["id"] if hmac.compare_digest(expected, found["signature"]) else None


def canonical(asked: Asked, signed: list[str]) -> str:
    path, _, query = asked.target.partition("?")
    lines = [f"{name}:{' '.join(asked.headers[name].split())}\n" for name in sorted(signed)]
    return "\n".join(
        [
            asked.method,
            quote(path, safe="/" + UNRESERVED),  # once by the sender, and once more
            _query(query),
            "".join(lines),
            ";".join(sorted(signed)),
            _hash(asked.body),
        ]
    )


def _query(query: str) -> str:
    """Read as the gateway reads it, and written in the one form that is signed."""
    pairs = (part.partition("=") for part in query.split("&") if part)
    return "&".join(sorted(f"{_again(name)}={_again(value)}" for name, _, value in pairs))


def _again(text: str) -> str:
    return quote(unquote(text), safe=UNRESERVED)


def _key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = _mac(key, part)
    return key


def _mac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


def _hash(body: bytes) -> str:
    return sha256(body).hexdigest()
