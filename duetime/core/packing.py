"""Long texts as they are stored: compressed, if that makes them shorter."""

import zlib

PACK_FROM = 1_024  # bytes; a shorter text is not worth it
FAST, SMALL = 1, 6  # levels: where only the disk is saved, and where every KB is billed


def pack(text: str, level: int) -> str | bytes:
    """Returns the text itself, or its compressed form."""
    if len(text) < PACK_FROM:
        return text
    whole = text.encode()
    packed = zlib.compress(whole, level)
    return packed if len(packed) < len(whole) else text


def unpack(stored: str | bytes) -> str:
    """Returns the text. Raises ValueError if it cannot be read."""
    if isinstance(stored, str):
        return stored
    try:
        return zlib.decompress(stored).decode()
    except zlib.error as error:
        raise ValueError(str(error)) from error
