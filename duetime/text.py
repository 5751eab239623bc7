"""Text from elsewhere, made safe to show: it must not steer the terminal."""


def clean(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def one_line(text: str) -> str:
    return clean(" ".join(text.splitlines())).replace("\t", " ")
