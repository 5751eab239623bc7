"""Masks: what is kept of a call that used a secret shows `***` in place of its value."""

import base64
import binascii
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from duetime.core.secrets import MASK, Secret

SHORTEST_PART = 6  # characters; a shorter part of a value, such as a user's name, is not masked
SHORTEST_END = 4  # characters of a value, at the end of a text that was cut

_CREDENTIALS = re.compile(r"(\w+) +(\S+)")  # such as Bearer abc


class Masks:
    """The values of the secrets that a call used, in the forms in which an answer repeats them:
    as they are, or escaped for JSON, HTML, a URL, or Base64."""

    def __init__(self) -> None:
        self._forms: set[str] = set()
        self._pattern = re.compile("(?!)")

    def add(self, secret: Secret) -> None:
        for text in (secret.value, secret.previous):
            if text is not None:
                self.add_text(str(text))

    def add_text(self, text: str) -> None:
        for part in _parts(text):
            self._forms.update(_forms(part))
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(form) for form in longest_first))

    def text(self, text: str) -> str:
        masked = self._pattern.sub(MASK, text)
        return self._without_cut_value(masked)

    def json(self, value: Any) -> Any:
        """Masks every text in a value of JSON's types, keys included, and numbers."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.json(key): self.json(inner) for key, inner in value.items()}
            case list():
                return [self.json(inner) for inner in value]
            case bool() | None:
                return value
        return MASK if str(value) in self._forms else value

    def _without_cut_value(self, text: str) -> str:
        """Masks the beginning of a value at the end of a text: only part of an answer is kept."""
        for form in self._forms:
            for length in range(min(len(form) - 1, len(text)), SHORTEST_END - 1, -1):
                if text.endswith(form[:length]):
                    return text[:-length] + MASK
        return text


def _parts(text: str) -> Iterator[str]:
    """Yields the value, and the credentials in it that a server may repeat by themselves."""
    yield text
    if text.strip() != text and text.strip():
        yield text.strip()
    inner: Iterable[str]
    if text.startswith(("http://", "https://")):
        inner = _url_parts(text)
    elif not (found := _CREDENTIALS.fullmatch(text.strip())):
        inner = [text.removeprefix("whsec_")]
    elif found[1].lower() == "basic":
        user_and_password = _decoded(found[2])
        inner = [found[2], user_and_password, user_and_password.partition(":")[2]]
    else:
        inner = [found[2]]
    yield from (part for part in inner if len(part) >= SHORTEST_PART)


def _url_parts(url: str) -> Iterator[str]:
    """Yields what a server or a log record repeats of a URL without its host, which is no secret:
    the path and the query, whole and piece by piece."""
    try:
        _, _, path, query, _ = urlsplit(url)
    except ValueError:
        return
    yield from (f"{path}?{query}", path, query)
    pieces = [*path.split("/"), *query.split("&")]
    pieces += [pair.partition("=")[2] for pair in query.split("&")]
    yield from pieces
    yield from map(unquote, pieces)


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""


def _forms(text: str) -> Iterator[str]:
    yield text
    yield text.encode("latin-1", "replace").decode(errors="replace")  # as a header carries it
    for ascii_only in (True, False):
        escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield escaped
        yield escaped.replace("/", r"\/")
    yield html.escape(text)
    yield html.escape(text).replace("&#x27;", "&#39;")
    yield quote(text, safe="")
    yield quote(text)
    yield quote_plus(text)
    yield base64.b64encode(text.encode()).decode().rstrip("=")
