"""The files of the console, as a web server sends them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from duetime.console.headers import SECURITY_HEADERS
from duetime.core.value import value

BUILT = Path(__file__).with_name("static")
PREFIX = "/static/"
PAGE = "index.html"
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))  # the smallest first
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
_HASHED = re.compile(r"-[0-9A-Z]{8}\.(js|css)$")
_API = re.compile(r"/(v1|docs|metrics|auth)(/|$)")


@value(frozen=True, kw_only=True, slots=True)
class File:
    body: bytes
    headers: Mapping[str, str]


class ConsoleFiles:
    """The files of a folder: the built ones, or the source for development, which is read anew for
    each request. The built ones are read once: an upgrade replaces them under a running server, and
    a page works only with the parts of its own build."""

    def __init__(self, folder: Path = BUILT) -> None:
        self._folder = folder
        self._built = _contents(folder) if folder == BUILT else None

    def find(self, method: str, path: str, headers: Mapping[str, str]) -> File | None:
        """Returns the file for a request, or None if the console has none and the API answers.
        Every page is the same file, which a browser asks for with `Accept: text/html`."""
        if method not in ("GET", "HEAD") or _API.match(path):
            return None
        if path.startswith(PREFIX):
            name = path.removeprefix(PREFIX)
            return self._file(name, headers) if self._has(name) else None
        if path == "/" or "text/html" in headers.get("accept", ""):
            return self._file(PAGE, headers)
        return None

    def _file(self, name: str, headers: Mapping[str, str]) -> File:
        sent = {
            "content-type": TYPES[Path(name).suffix],
            "cache-control": _caching(name),
            **SECURITY_HEADERS,
        }
        if self._built is None:
            return File(body=(self._folder / name).read_bytes(), headers=sent)
        sent["vary"] = "accept-encoding"
        for encoding, suffix in ENCODINGS:
            if encoding in _accepted(headers.get("accept-encoding", "")):
                headers = {**sent, "content-encoding": encoding}
                return File(body=self._built[name + suffix], headers=headers)
        return File(body=self._built[name], headers=sent)

    def _has(self, name: str) -> bool:
        if Path(name).suffix not in TYPES:
            return False
        return name in (_found(self._folder) if self._built is None else self._built)


def _caching(name: str) -> str:
    """A name with a hash never gets other bytes."""
    return "public, max-age=31536000, immutable" if _HASHED.search(name) else "no-store"


def _accepted(header: str) -> set[str]:
    parts = (part.replace(" ", "").partition(";") for part in header.lower().split(","))
    return {name for name, _, quality in parts if quality != "q=0"}


def _found(folder: Path) -> frozenset[str]:
    paths = (path for path in folder.rglob("*") if path.suffix in TYPES)
    return frozenset(path.relative_to(folder).as_posix() for path in paths)


@cache
def _contents(folder: Path) -> Mapping[str, bytes]:
    """The files of a build, with their compressed copies: half a megabyte."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
