"""The URLs that an `http` target may call: the same rules for a URL in a task and in a secret."""

import re
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, urlsplit

MAX_URL: Final = 2_048

_HOST = re.compile(r"[A-Za-z0-9._-]+")
_HOST_RULE = "must have a host that is a name or an address"


def url_fault(text: str) -> str | None:
    """Returns why a text is not such a URL, without showing any of it; None if it is one."""
    if len(text) > MAX_URL:
        return f"must have at most {MAX_URL} characters"
    if any(c.isspace() or not c.isprintable() for c in text):
        return "must have no spaces or control characters"
    try:
        parts = urlsplit(text)
    except ValueError:
        return _HOST_RULE
    return _fault_of(parts)


def _fault_of(parts: SplitResult) -> str | None:
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "must be an http:// or https:// URL"
    if parts.username is not None:
        return "must have no credentials in it; send them as a header"
    if not _is_host(parts):
        return _HOST_RULE
    if not _is_port(parts):
        return "must have a port from 1 to 65535, or none"
    return None


def _is_host(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        if "[" in parts.netloc:
            return bool(IPv6Address(host))
        host = host.encode("idna").decode()
    except ValueError:  # no address; a label that is empty, too long or not a name
        return False
    return len(host) <= 253 and _HOST.fullmatch(host) is not None


def _is_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False
