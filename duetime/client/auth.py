"""How a client proves who asks: by a signature, by a token, or not at all."""

import re
from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum, auto

import httpx

from duetime.client.errors import BadArgument

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_REGION = r"[a-z]{2,}(?:-[a-z]+)+-\d+"
_GATEWAY = re.compile(rf"[a-z0-9-]+\.execute-api\.({_REGION})\.amazonaws\.com(?:\.cn)?")
_TOKEN = re.compile(r"[!-~]+")


class Proof(Enum):
    NOTHING = auto()
    SIGNATURE = auto()
    TOKEN = auto()


@dataclass(frozen=True, slots=True)
class Access:
    proof: Proof
    auth: httpx.Auth | None = None


def access_to(address: httpx.URL, *, sign: str | None, token: str | None) -> Access:
    """A token, if there is one; else a signature, if a region is named by `sign` or by the
    address of an API Gateway; else nothing, as for a runner on this machine."""
    region = sign or gateway_region(address.host)
    if token:
        _check_private(address, "token")
        return Access(Proof.TOKEN, Bearer(token))
    if region:
        _check_private(address, "signature")
        return Access(Proof.SIGNATURE, _signature(region))
    return Access(Proof.NOTHING)


def gateway_region(host: str) -> str | None:
    found = _GATEWAY.fullmatch(host)
    return found and found[1]


class Bearer(httpx.Auth):
    def __init__(self, token: str) -> None:
        if not _TOKEN.fullmatch(token):
            raise BadArgument("token", "give the token alone: no spaces, no `Bearer`")
        self._header = f"Bearer {token}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["authorization"] = self._header
        yield request


def _signature(region: str) -> httpx.Auth:
    if not re.fullmatch(_REGION, region):
        raise BadArgument("sign", f"{region!r} is not an AWS region like eu-central-1")
    from duetime.client.signing import Signature  # it loads botocore

    return Signature(region)


def _check_private(address: httpx.URL, what: str) -> None:
    """Over plain HTTP whoever is on the way could use it as well."""
    if address.scheme != "https" and address.host not in LOOPBACK:
        raise BadArgument("url", f"a {what} is not sent to {address}: use https://")
