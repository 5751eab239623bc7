"""The words of an expression with their positions, for errors that point at one."""

import re

_TOKEN = re.compile(r"\S+")

Token = tuple[str, int]  # in lower case, and its position in the expression from 1


def tokens(expression: str, start: int = 0, end: int | None = None) -> list[Token]:
    found = _TOKEN.finditer(expression, start, len(expression) if end is None else end)
    return [(token[0].lower(), token.start() + 1) for token in found]
