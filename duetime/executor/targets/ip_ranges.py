"""The kinds of IP addresses, from IANA's special-purpose registries.

The tables are written out because `ipaddress.is_global` differs between patch releases of Python.
"""

import ipaddress
from enum import StrEnum

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


class Kind(StrEnum):
    PUBLIC = "public"
    LOOPBACK = "loopback"
    PRIVATE = "private"
    METADATA = "metadata"  # where clouds hand out credentials
    RESERVED = "reserved"  # link-local, multicast, documentation, transition mechanisms …


def _networks(*texts: str) -> tuple[IPNetwork, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


LOOPBACK = _networks("127.0.0.0/8", "::1/128")
PRIVATE = _networks(
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared by carriers, and by overlay networks
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",  # benchmarks between devices
    "fc00::/7",
    "fec0::/10",  # site-local, deprecated
)
RESERVED = _networks(
    "0.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",  # relays of 6to4
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",  # multicast, reserved, broadcast
    "2001::/23",  # Teredo and other protocols
    "2001:db8::/32",
    "3fff::/20",
)
METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure; public by its number
        "169.254.42.42",  # Scaleway
        "169.254.169.254",  # AWS, Azure, Google and most others
        "169.254.170.2",  # AWS ECS
        "169.254.170.23",  # AWS EKS
        "192.0.0.192",  # Oracle
        "fd00:42::42",  # Scaleway
        "fd00:ec2::23",  # AWS EKS
        "fd00:ec2::254",  # AWS
        "fd20:ce::254",  # Google
    )
)

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # the only block from which IANA assigns
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def reached_by(address: str) -> IPAddress:
    """Returns the address where a connection ends: some IPv6 addresses lead to an IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])  # without the zone of a link
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip.ipv4_mapped or ip.sixtofour or ip


def kind_of(ip: IPAddress) -> Kind:
    if ip in METADATA:
        return Kind.METADATA
    for kind, networks in _TABLES:
        if any(ip in network for network in networks):
            return kind
    assigned = ip.version == 4 or ip in _GLOBAL_UNICAST
    return Kind.PUBLIC if assigned else Kind.RESERVED


_TABLES = ((Kind.LOOPBACK, LOOPBACK), (Kind.PRIVATE, PRIVATE), (Kind.RESERVED, RESERVED))
