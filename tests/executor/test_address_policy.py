"""The addresses that an executor may call. The tables are IANA's special-purpose registries, block
by block, so that the answer does not depend on the release of Python."""

import pytest

from duetime.executor.targets.address_policy import (
    PUBLIC_ONLY,
    AddressPolicy,
    AddressRefused,
    parse_allowed,
)
from duetime.executor.targets.ip_ranges import Kind, kind_of, reached_by
from duetime.local.options import LocalOptions
from duetime.local.targets import address_policy_for

LOOPBACK = [
    "127.0.0.0",
    "127.0.0.1",
    "127.255.255.255",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
]
PRIVATE = [
    "10.0.0.0",
    "10.255.255.255",
    "100.64.0.0",
    "100.127.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "192.168.0.0",
    "192.168.255.255",
    "198.18.0.0",
    "198.19.255.255",
    "fc00::",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "fec0::",
    "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::1",
]
METADATA = [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.170.23",
    "fd00:ec2::254",
    "fd00:ec2::254%eth0",
    "fd00:ec2::23",
    "fd20:ce::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
]
RESERVED = [
    "0.0.0.0",
    "0.255.255.255",
    "169.254.0.1",
    "192.0.0.0",
    "192.0.0.8",
    "192.0.0.9",
    "192.0.0.170",
    "192.0.0.255",
    "192.0.2.1",
    "192.88.99.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::10.0.0.1",
    "::127.0.0.1",
    "::169.254.169.254",
    "::93.184.215.14",
    "::ffff:0:10.0.0.1",
    "::ffff:0:169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00::",
    "64:ff9b:0:1::5db8:d70e",
    "100::1",
    "100:0:0:1::1",
    "200::1",
    "1fff::1",
    "2001::1",
    "2001:0:a9fe:a9fe::1",
    "2001:1::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:30::1",
    "2001:1ff:ffff::1",
    "2001:db8::1",
    "3fff::1",
    "3fff:fff::1",
    "4000::1",
    "5f00::1",
    "fe00::1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "ff0e::1",
]
PUBLIC = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.215.14",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.31.196.1",
    "192.175.48.1",
    "223.255.255.255",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2606:2800:21f::1",
    "2620:4f:8000::1",
    "3ffe::1",
    "::ffff:93.184.215.14",
    "64:ff9b::5db8:d70e",
    "2002:5db8:d70e::1",
]
TABLE = [
    (address, kind)
    for kind, addresses in (
        (Kind.LOOPBACK, LOOPBACK),
        (Kind.PRIVATE, PRIVATE),
        (Kind.METADATA, METADATA),
        (Kind.RESERVED, RESERVED),
        (Kind.PUBLIC, PUBLIC),
    )
    for address in addresses
]
LOCAL = address_policy_for(LocalOptions())
LAN = address_policy_for(LocalOptions(allow_private=True))


def admits(policy: AddressPolicy, address: str, host: str | None = None) -> bool:
    try:
        policy.check(host or address, address)
    except AddressRefused:
        return False
    return True


def allowing(*hosts: str) -> AddressPolicy:
    return AddressPolicy(allowed=[parse_allowed(host) for host in hosts])


@pytest.mark.parametrize(("address", "kind"), TABLE)
def test_every_special_purpose_block_has_its_kind(address: str, kind: Kind):
    assert kind_of(reached_by(address)) is kind


@pytest.mark.parametrize(("address", "kind"), TABLE)
def test_an_executor_calls_the_kinds_of_addresses_that_it_is_allowed(address: str, kind: Kind):
    assert admits(PUBLIC_ONLY, address) == (kind is Kind.PUBLIC)
    assert admits(LOCAL, address) == (kind in (Kind.PUBLIC, Kind.LOOPBACK))
    assert admits(LAN, address) == (kind in (Kind.PUBLIC, Kind.LOOPBACK, Kind.PRIVATE))


def test_allowed_range_allows_the_addresses_in_it_and_no_others():
    policy = allowing("10.1.0.0/16", "fd00:1::/32")
    assert admits(policy, "10.1.2.3")
    assert admits(policy, "::ffff:10.1.2.3")
    assert admits(policy, "fd00:1::5")
    assert not admits(policy, "10.2.0.1")
    assert not admits(policy, "fd00:2::5")


@pytest.mark.parametrize("address", METADATA)
def test_metadata_address_is_allowed_only_by_its_exact_address(address: str):
    wide = allowing("0.0.0.0/0", "::/0", "*.internal", "metadata.internal")
    assert not admits(wide, address, "metadata.internal")
    assert admits(allowing(str(reached_by(address))), address)


def test_allowed_name_allows_private_addresses_only():
    policy = allowing("DB.internal", "*.svc.cluster.local")
    assert admits(policy, "10.0.0.5", "db.internal")
    assert admits(policy, "10.0.0.5", "db.INTERNAL.")
    assert admits(policy, "fd12::5", "shop.default.svc.cluster.local")
    assert not admits(policy, "10.0.0.5", "svc.cluster.local")
    assert not admits(policy, "10.0.0.5", "evil-svc.cluster.local")
    assert not admits(policy, "10.0.0.5", "web.internal")
    assert not admits(policy, "127.0.0.1", "db.internal")
    assert not admits(policy, "169.254.1.1", "db.internal")


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "10.0.0.5/8", "10.0.0.0/33", "1.2.3", "999.1.1.1", "fd00::/129", "[::1]"),
        *("a b", "http://db", "db:5432", "*", "*.", "a.*.b", "-db", "db-", "a,b", "x" * 254),
    ],
)
def test_text_that_is_neither_host_nor_range_is_refused(text: str):
    with pytest.raises(ValueError, match=r"."):
        parse_allowed(text)


@pytest.mark.parametrize(
    ("policy", "host", "address", "message"),
    [
        (
            PUBLIC_ONLY,
            "db.internal",
            "10.0.0.5",
            "db.internal is at 10.0.0.5, a private address;"
            " name db.internal in allow_hosts of the stage to allow it",
        ),
        (
            PUBLIC_ONLY,
            "127.0.0.1",
            "127.0.0.1",
            "127.0.0.1, a loopback address; name 127.0.0.1 in allow_hosts of the stage to allow it",
        ),
        (
            LOCAL,
            "10.0.0.5",
            "10.0.0.5",
            "10.0.0.5, a private address;"
            " start the runner with --allow-private or --allow-host 10.0.0.5 to allow it",
        ),
        (
            LAN,
            "meta",
            "::ffff:169.254.169.254",
            "meta is at ::ffff:169.254.169.254, a metadata address;"
            " start the runner with --allow-host 169.254.169.254 to allow it",
        ),
    ],
)
def test_a_refusal_says_how_to_allow_the_address(
    policy: AddressPolicy, host: str, address: str, message: str
):
    with pytest.raises(AddressRefused) as refused:
        policy.check(host, address)
    assert str(refused.value) == message
