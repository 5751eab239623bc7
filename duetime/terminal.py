"""Text for a terminal: control characters removed, durations in words."""

UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def clean(text: str) -> str:
    """Replaces control characters: text from outside must not control the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def one_line(text: str) -> str:
    return clean(" ".join(text.splitlines())).replace("\t", " ")


def length(seconds: float, *, rough: bool = False) -> str:
    """Returns 2 d 3 h, 1 h 30 min, 4 min 10 s or 9.5 s; with `rough`, only the larger unit."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
    place = next(place for place, (size, _) in enumerate(UNITS) if whole >= size)
    (size, unit), (lower, lower_unit) = UNITS[place : place + 2]
    rest = whole % size // lower
    return f"{whole // size} {unit}" + (f" {rest} {lower_unit}" if rest and not rough else "")
