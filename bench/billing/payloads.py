"""Payloads of a given size: an order as shops send it, and a text that cannot be compressed.

Long texts are stored compressed, so what a payload costs depends on what it says.
"""

import json
from random import Random
from typing import Any
from uuid import UUID

LETTERS = "".join(chr(n) for n in range(32, 127) if chr(n) not in '"\\')
COLOURS = ("black", "blue", "green", "grey", "red", "white", "yellow")
MATERIALS = ("cotton", "denim", "leather", "linen", "silk", "wool")
THINGS = ("belt", "coat", "dress", "hat", "jacket", "scarf", "shirt", "shoes", "skirt", "socks")
WORDS = ("please", "ring", "leave", "it", "with", "the", "neighbour", "at", "door", "after", "noon")


def order_of(size: int) -> dict[str, Any]:
    """Returns an order whose compact JSON has `size` bytes: as many lines as fit, and a note.

    Every line has an id of its own, which cannot be compressed."""
    random = Random(size)
    order: dict[str, Any] = {"order": _uuid(random), "currency": "EUR", "lines": [], "note": ""}
    while True:
        lines = [*order["lines"], _line(random)]
        if _length({**order, "lines": lines}) > size:
            break
        order["lines"] = lines
    left = size - _length(order)
    return {**order, "note": " ".join(random.choices(WORDS, k=size))[:left]}


def text_of(size: int) -> str:
    """Returns a text that compression hardly shortens, so that no payload costs more."""
    return "".join(Random(size).choices(LETTERS, k=size))


def _line(random: Random) -> dict[str, Any]:
    title = " ".join(random.choice(words) for words in (COLOURS, MATERIALS, THINGS))
    return {
        "id": _uuid(random),
        "title": title,
        "quantity": random.randint(1, 5),
        "price": random.randint(500, 20_000) / 100,
        "packed_at": f"2026-11-{random.randint(10, 28)}T{random.randint(10, 19)}:05:00Z",
    }


def _uuid(random: Random) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


def _length(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":")))
