"""The addresses that an executor may call, so that a task opens no way into a private network."""

import ipaddress
import re
import socket
from collections.abc import Sequence

from duetime.core.value import value
from duetime.executor.targets.ip_ranges import IPAddress, IPNetwork, Kind, kind_of, reached_by

_NAME = re.compile(r"(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?")
LONGEST_NAME = 253


class AddressRefused(Exception):
    """Raised for a host whose address is not allowed; the message says how to allow it."""


@value(frozen=True, slots=True)
class Destination:
    host: str
    ip: IPAddress
    kind: Kind


@value(frozen=True, slots=True)
class AllowedNetwork:
    """An address or a range. A range never allows a metadata address: list that one by itself."""

    network: IPNetwork

    def allows(self, to: Destination) -> bool:
        exact = self.network.prefixlen == self.network.max_prefixlen
        return to.ip in self.network and (exact or to.kind is not Kind.METADATA)


@value(frozen=True, slots=True)
class AllowedName:
    """A host, or with `*.` every host below a domain. A name allows private addresses only: its
    DNS must not be able to point it at loopback or at a metadata address."""

    name: str

    def allows(self, to: Destination) -> bool:
        return to.kind is Kind.PRIVATE and self._matches(to.host.lower().rstrip("."))

    def _matches(self, host: str) -> bool:
        if self.name.startswith("*."):
            return host.endswith(self.name[1:])
        return host == self.name


Allowed = AllowedNetwork | AllowedName


def parse_allowed(text: str) -> Allowed:
    """`10.1.0.0/16`, `fd00::5`, `db.internal` or `*.svc.cluster.local`; raises ValueError."""
    if re.fullmatch(r"[\d.]+(/\d+)?", text) or ":" in text or "/" in text:
        return AllowedNetwork(ipaddress.ip_network(text))
    name = text.lower().rstrip(".")
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise ValueError(f"{text!r} is not a host, an address or a range such as 10.1.0.0/16")
    return AllowedName(name)


@value(frozen=True, kw_only=True, slots=True)
class AddressPolicy:
    """The rules for addresses that are not public.

    Attributes:
        kinds: Kinds of addresses that are allowed.
        allowed: Hosts, addresses and ranges that are allowed.
        hint: What a user may change after a refusal.
        private_hint: The same for a private address."""

    kinds: frozenset[Kind] = frozenset()
    allowed: Sequence[Allowed] = ()
    hint: str = "name {address} in allow_hosts of the stage to allow it"
    private_hint: str = "name {host} in allow_hosts of the stage to allow it"

    def check(self, host: str, address: str) -> None:
        """Raises AddressRefused unless a connection to this address is allowed."""
        ip = reached_by(address)
        to = Destination(host, ip, kind_of(ip))
        if to.kind is Kind.PUBLIC or to.kind in self.kinds:
            return
        if not any(entry.allows(to) for entry in self.allowed):
            raise AddressRefused(self._refusal(to, address))

    def _refusal(self, to: Destination, address: str) -> str:
        where = address if to.host == address else f"{to.host} is at {address}"
        hint = self.private_hint if to.kind is Kind.PRIVATE else self.hint
        return f"{where}, a {to.kind} address; {hint.format(host=to.host, address=to.ip)}"


PUBLIC_ONLY = AddressPolicy()


def check_name(host: str, port: int | None, policy: AddressPolicy) -> None:
    name = host.strip("[]")
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError:
        return  # connecting fails as well, and says why
    for *_, (address, *_) in found:
        policy.check(name, str(address))


def check_peer(connection: socket.socket, host: str, policy: AddressPolicy) -> socket.socket:
    try:
        policy.check(host.strip("[]"), connection.getpeername()[0])
    except AddressRefused:
        connection.close()
        raise
    return connection
