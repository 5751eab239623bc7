"""Signatures of webhooks, as the Standard Webhooks specification defines them.

The signed content is the id, the timestamp and the exact bytes of the body, joined by dots. A
message has one signature for each secret that its receiver may have.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable
from typing import Final

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
HEADERS: Final = (ID, TIMESTAMP, SIGNATURE)
VERSION: Final = "v1"
PREFIX: Final = "whsec_"


def key_of(secret: str | bytes) -> bytes:
    """Returns the key of a secret: the bytes that `whsec_` and Base64 encode, or else the secret
    itself. Raises ValueError for an empty secret, and for `whsec_` without Base64 after it."""
    if not secret:
        raise ValueError("the secret is empty")
    if isinstance(secret, bytes):
        return secret
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ValueError(f"the secret has no Base64 text after {PREFIX}")
    return key


def signature(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    content = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, content, hashlib.sha256).digest()
    return f"{VERSION},{base64.b64encode(digest).decode()}"


def signature_headers(
    keys: Iterable[bytes], message_id: str, timestamp: int, body: bytes
) -> dict[str, str]:
    signatures = (signature(key, message_id, timestamp, body) for key in keys)
    return {ID: message_id, TIMESTAMP: str(timestamp), SIGNATURE: " ".join(signatures)}
