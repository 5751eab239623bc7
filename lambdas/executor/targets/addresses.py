"""Which addresses an executor calls: a task must not be a way into a private network."""

import ipaddress
import socket
from collections.abc import Callable

Admits = Callable[[str], bool]
IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class AddressRefused(Exception):
    def __init__(self, host: str, address: str) -> None:
        where = "" if host == address else f"{host} is at "
        super().__init__(f"{where}{address}, which this executor does not call")


def public_only(address: str) -> bool:
    """For a deployment: no private, loopback or metadata address, whatever the name says."""
    ip = _reached_by(address)
    return ip.is_global and not ip.is_multicast


def public_or_loopback(address: str) -> bool:
    """For the local runner, which is mostly asked to call a neighbour."""
    return public_only(address) or _reached_by(address).is_loopback


def _reached_by(address: str) -> IPAddress:
    """Some IPv6 addresses only lead to an IPv4 one; then that one counts."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip


def check_name(host: str, port: int | None, admits: Admits) -> None:
    name = host.strip("[]")
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except OSError:
        return  # connecting fails as well, and says why
    for *_, (address, *_) in found:
        if not admits(str(address)):
            raise AddressRefused(host, str(address))


def check_peer(connection: socket.socket, host: str, admits: Admits) -> socket.socket:
    address = connection.getpeername()[0]
    if not admits(address):
        connection.close()
        raise AddressRefused(host, address)
    return connection
