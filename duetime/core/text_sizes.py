"""The size of a text as Lambda counts it.

A function receives a request, and returns its answer, as a JSON document of at most 6 MB in which
the HTTP body is one string. So every quote and every backslash of a body takes two bytes of it.
"""

# The rest is for headers and the request context: API Gateway accepts 10 KB of headers.
ESCAPED_LIMIT = (6 * 1024 - 256) * 1024

_TWO_BYTES = tuple(bytes([byte]) for byte in b'"\\\b\t\n\f\r')
LONGEST = 6  # bytes of one byte: \\u0000
_CONTROLS = bytes(range(0x20))


def is_over_limit(body: bytes) -> bool:
    """Whether a text takes more than ESCAPED_LIMIT as a JSON string. A short one is not counted."""
    return len(body) > ESCAPED_LIMIT // LONGEST - 2 and escaped_size(body) > ESCAPED_LIMIT


def escaped_size(body: bytes) -> int:
    """Returns how many bytes a text takes as a JSON string."""
    controls = len(body) - len(body.translate(None, _CONTROLS))
    two_bytes = [body.count(byte) for byte in _TWO_BYTES]
    six_bytes = controls - sum(two_bytes[2:])
    return len(body) + sum(two_bytes) + 5 * six_bytes + 2
