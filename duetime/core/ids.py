"""Ids are ULIDs: 48 bits of time, 80 bits of randomness, sortable as text."""

from functools import lru_cache
from hashlib import blake2b

from duetime.core.times import Millis

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
RANDOM_BITS = 80
_PAIRS = [a + b for a in ALPHABET for b in ALPHABET]  # ten bits at a time


def new_id(now: Millis, randomness: int) -> str:
    """An id that sorts by `now`; `randomness` holds 80 bits drawn by the caller."""
    return _time_part(now) + _forty_bits(randomness >> 40) + _forty_bits(randomness)


def derived_id(*parts: str) -> str:
    """Returns the same id for the same parts, of which only the last may contain a line break. Its
    time is 0: it sorts before every other id."""
    digest = blake2b("\n".join(parts).encode(), digest_size=RANDOM_BITS // 8).digest()
    return new_id(0, int.from_bytes(digest))


@lru_cache(maxsize=16)
def _time_part(now: Millis) -> str:
    return _PAIRS[now >> 40] + _forty_bits(now)


def _forty_bits(n: int) -> str:
    p = _PAIRS
    return p[n >> 30 & 1023] + p[n >> 20 & 1023] + p[n >> 10 & 1023] + p[n & 1023]


def created_at(task_id: str) -> Millis:
    value = 0
    for character in task_id[:10]:
        value = value * 32 + ALPHABET.index(character)
    return value


def is_id(text: str) -> bool:
    return len(text) == LENGTH and text[0] <= "7" and all(c in ALPHABET for c in text)
