"""Ids are ULIDs: 48 bits of time, 80 bits of randomness, sortable as text."""

from lambdas.core.times import Millis

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26
RANDOM_BITS = 80
# Two characters at a time: half the divisions, on a path every task takes.
_PAIRS = [a + b for a in ALPHABET for b in ALPHABET]


def new_id(now: Millis, randomness: int) -> str:
    """An id that sorts by `now`; `randomness` holds 80 bits drawn by the caller."""
    value = now << RANDOM_BITS | randomness
    parts = []
    for _ in range(LENGTH // 2):
        value, low = divmod(value, 1024)
        parts.append(_PAIRS[low])
    return "".join(reversed(parts))


def created_at(task_id: str) -> Millis:
    value = 0
    for character in task_id[:10]:
        value = value * 32 + ALPHABET.index(character)
    return value


def is_id(text: str) -> bool:
    return len(text) == LENGTH and text[0] <= "7" and all(c in ALPHABET for c in text)
