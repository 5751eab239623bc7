"""Secrets: a task names a secret, and the executor looks up its value when it runs the task.

`{"$secret": "stripe"}` takes the place of a text in a target. A secret lists the hosts and the
namespaces that may use it, so a caller who may submit tasks cannot send it elsewhere.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol, TypeGuard

from duetime.core.errors import DuetimeError
from duetime.core.value import value

REFERENCE: Final = "$secret"
MASK: Final = "***"  # shown in place of a value
NAME_RULE: Final = "must be 1 to 64 letters, digits and ._-"
LONGEST: Final = 4_096  # characters of a value; SSM's own limit for all of a secret
FIELDS: Final = ("value", "previous", "hosts", "namespaces")
ANY: Final = "*"

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_HOST = re.compile(
    r"(http://)?((\*\.)?([a-z0-9_-]+\.)*[a-z0-9_-]+|\[?[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*\]?)",
    re.IGNORECASE,
)
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


class BadSecret(DuetimeError):
    """A secret that cannot be used. Its message has the name and the reason, never the value."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"secret {name!r} {reason}")
        self.name = name
        self.reason = reason


class Hidden(str):
    """A text that no repr shows, nor a log record or a traceback that uses it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


@value(frozen=True, kw_only=True, slots=True)
class Secret:
    """`previous` is the value before a rotation: receivers of signatures may still have it."""

    name: str
    value: Hidden
    previous: Hidden | None
    hosts: tuple[str, ...]
    namespaces: tuple[str, ...]

    def refusal(self, host: str, namespace: str, *, plain: bool) -> str | None:
        """Returns why this host and namespace may not use the secret; None if they may.

        `plain` says that the value itself would be sent without TLS. A listed host allows that
        only on loopback, or if it is listed as `http://host`."""
        if reason := self.namespace_refusal(namespace):
            return reason
        host = _bare(host)
        if not self.lists(host):
            return f"is not for host {host!r}"
        if plain and not _LOOPBACK.fullmatch(host) and not self._allows_plain(host):
            return (
                f'is not sent to {host!r} without TLS; list "http://{host}" in its hosts for that'
            )
        return None

    def namespace_refusal(self, namespace: str) -> str | None:
        if ANY in self.namespaces or namespace in self.namespaces:
            return None
        return f"is not for namespace {namespace!r}"

    def lists(self, host: str) -> bool:
        host = _bare(host)
        return any(_matches(entry.removeprefix("http://"), host) for entry in self.hosts)

    def _allows_plain(self, host: str) -> bool:
        listed = (e.removeprefix("http://") for e in self.hosts if e.startswith("http://"))
        return any(_matches(entry, host) for entry in listed)


class SecretStore(Protocol):
    def get(self, name: str) -> Secret | None:
        """Returns None if there is no such secret. Raises Unavailable or BadSecret."""
        ...


def is_name(text: Any) -> bool:
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def is_reference(given: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(given, dict) and REFERENCE in given


def references_in(target: Any, path: str = "target") -> Iterator[tuple[str, Any]]:
    """Yields the name of each secret in a target, with the path of its field, in order."""
    pending = [(path, target)]
    while pending:
        at, inner = pending.pop()
        if is_reference(inner):
            yield at, inner[REFERENCE]
        elif isinstance(inner, dict):
            pending += [(f"{at}.{key}", below) for key, below in reversed(inner.items())]
        elif isinstance(inner, list):
            numbered = enumerate(inner)
            pending += [(f"{at}.{number}", below) for number, below in reversed(list(numbered))]


def read_secret(name: str, given: Any) -> Secret:
    """Returns a secret from its JSON object. Raises BadSecret, without showing any of it."""
    if not isinstance(given, Mapping):
        raise BadSecret(name, 'must be an object such as {"value": "…", "hosts": ["example.com"]}')
    if not given.keys() <= set(FIELDS):
        raise BadSecret(name, f"has a field that is none of {', '.join(FIELDS)}")
    return Secret(
        name=name,
        value=_text(name, "value", given.get("value")),
        previous=_previous(name, given.get("previous")),
        hosts=_hosts(name, given.get("hosts")),
        namespaces=_namespaces(name, given.get("namespaces", ["default"])),
    )


def _previous(name: str, given: Any) -> Hidden | None:
    return None if given is None else _text(name, "previous", given)


def _text(name: str, field: str, given: Any) -> Hidden:
    if not isinstance(given, str) or not 0 < len(given) <= LONGEST:
        raise BadSecret(name, f"must have a {field} of 1 to {LONGEST:,} characters")
    return Hidden(given)


def _hosts(name: str, given: Any) -> tuple[str, ...]:
    hosts = _texts(given)
    if not hosts or not all(_HOST.fullmatch(host) for host in hosts):
        example = '["api.example.com", "*.example.org"]'
        raise BadSecret(name, f"must have hosts such as {example}, without ports or paths")
    return hosts


def _namespaces(name: str, given: Any) -> tuple[str, ...]:
    if not (namespaces := _texts(given)):
        raise BadSecret(name, 'must have namespaces such as ["default"], or ["*"] for all')
    return namespaces


def _texts(given: Any) -> tuple[str, ...]:
    """Returns nothing for what is no list of texts."""
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        return ()
    return tuple(given)


def _matches(entry: str, host: str) -> bool:
    entry = _bare(entry)
    return host.endswith(entry[1:]) if entry.startswith("*.") else host == entry


def _bare(host: str) -> str:
    return host.lower().strip("[]").rstrip(".")
