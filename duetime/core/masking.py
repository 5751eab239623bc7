"""Masking of secrets: targets are stored and called with them, but answers do not show them.

An answer shows `***` for the value of a header that looks like a secret. In a change of the same
schedule, `***` means the stored value. A reference to a secret holds no value and is shown as it
is.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from duetime.core.secrets import MASK, REFERENCE, is_reference

__all__ = ["MASK", "is_secret", "masked", "masked_url", "unmasked"]

_SECRET = re.compile(
    r"authorization|cookie|token|secret|passw|credential|api[-_]?key|signature|x-auth\b", re.I
)
_CREDENTIALS = re.compile(r"(?<=//)[^/?#]*@")


def is_secret(header: str) -> bool:
    """Whether a header holds a secret, judged by its name."""
    return _SECRET.search(header) is not None


def masked(target: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a target as an answer shows it."""
    shown = dict(target)
    if isinstance(url := shown.get("url"), str):
        shown["url"] = masked_url(url)
    if isinstance(headers := shown.get("headers"), dict):
        shown["headers"] = {
            name: MASK if is_secret(name) and not is_reference(text) else text
            for name, text in headers.items()
        }
    return shown


def masked_url(url: str | None) -> str | None:
    """Returns a URL without the user and the password in it, and any other text as it is."""
    return _CREDENTIALS.sub(f"{MASK}@", url, count=1) if url and "@" in url else url


def unmasked(target: Any, stored: Mapping[str, Any]) -> Any:
    """Returns a submitted target with the stored value in place of each masked header.

    It does so only for the same scheme and host: a caller who may change a schedule, but not read
    its secrets, must not be able to send them elsewhere."""
    headers = target.get("headers") if isinstance(target, dict) else None
    if not isinstance(headers, dict) or not _same_origin(target, stored):
        return target
    known = {name.lower(): text for name, text in stored.get("headers", {}).items()}
    kept = {
        name: known.get(name.lower(), text) if text == MASK and is_secret(name) else text
        for name, text in headers.items()
    }
    return {**target, "headers": kept}


def _same_origin(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    origin = _origin(one)
    return origin is not None and origin == _origin(other)


def _origin(target: Mapping[str, Any]) -> tuple[str, str] | None:
    """Returns the scheme and host, or None if a template decides them. A secret that holds the URL
    decides both, so the same secret means the same origin."""
    if is_reference(url := target.get("url")):
        return REFERENCE, str(url[REFERENCE])
    try:
        parts = urlsplit(str(url or ""))
    except ValueError:
        return None
    if not parts.netloc or "{{" in parts.scheme + parts.netloc:
        return None
    return parts.scheme, parts.netloc.lower()
