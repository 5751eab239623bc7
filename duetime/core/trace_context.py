"""Trace contexts: the span that submitted a task or ran an attempt, as W3C Trace Context has it.

They are stored packed, in 34 characters instead of 55: a task must fit into its first kilobyte.
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_TRACE_ID, _SPAN_ID = 16, 8  # bytes


def is_traceparent(text: str) -> bool:
    """Whether a text is a traceparent of version 00. Ids of zeros mean that there is no span."""
    found = _TRACEPARENT.fullmatch(text)
    return found is not None and all(set(part) != {"0"} for part in found.groups()[:2])


def pack(traceparent: str) -> str:
    found = _TRACEPARENT.fullmatch(traceparent)
    if found is None:
        raise ValueError(f"not a traceparent: {traceparent!r}")
    return urlsafe_b64encode(bytes.fromhex("".join(found.groups()))).decode().rstrip("=")


def unpack(packed: str) -> str:
    raw = urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
    ids, flags = raw[: _TRACE_ID + _SPAN_ID], raw[_TRACE_ID + _SPAN_ID :]
    return f"00-{ids[:_TRACE_ID].hex()}-{ids[_TRACE_ID:].hex()}-{flags.hex()}"
