"""Authentication of requests: an AWS signature, a bearer token, or none."""

import re
from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum, auto

import httpx

from duetime.client.errors import BadArgument
from duetime.extras import NotInstalled

LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_REGION = r"[a-z]{2,}(?:-[a-z]+)+-\d+"
_GATEWAY = re.compile(rf"[a-z0-9-]+\.execute-api\.({_REGION})\.amazonaws\.com(?:\.cn)?")
_TOKEN = re.compile(r"[!-~]+")


class AuthMethod(Enum):
    NONE = auto()
    SIGNATURE = auto()
    TOKEN = auto()


@dataclass(frozen=True, slots=True)
class Auth:
    method: AuthMethod
    auth: httpx.Auth | None = None


def auth_for(address: httpx.URL, *, sign: str | None, token: str | None) -> Auth:
    """Chooses the authentication for an address.

    A token wins. Otherwise requests are signed if `sign` names a region or the address is one of
    API Gateway. Otherwise there is none, as for a runner on this machine."""
    region = sign or gateway_region(address.host)
    if token:
        _check_encrypted(address, "token")
        return Auth(AuthMethod.TOKEN, Bearer(token))
    if region:
        _check_encrypted(address, "signature")
        return Auth(AuthMethod.SIGNATURE, _signature(region))
    return Auth(AuthMethod.NONE)


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
    try:
        from duetime.client.signing import Signature  # loads botocore, which is slow
    except ModuleNotFoundError as error:
        raise NotInstalled("What signs requests for AWS", "aws") from error

    return Signature(region)


def _check_encrypted(address: httpx.URL, what: str) -> None:
    """Refuses plain HTTP, except to this machine: others on the network could read the secret."""
    if address.scheme != "https" and address.host not in LOOPBACK:
        raise BadArgument("url", f"a {what} is not sent to {address}: use https://")
