"""The root certificates that sign for AWS, taken from botocore's list of all authorities.

botocore loads its whole list for every connection that it opens: 20 to 30 ms of a whole CPU, and
a function of 512 MB has less than a third of one. A bundle carries Amazon's five roots, which
load in about 1 ms. Amazon recommends to trust all five: https://www.amazontrust.com/repository/.
A source tree has no such file, and botocore loads its own list.
"""

import os
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from botocore.httpsession import DEFAULT_CA_BUNDLE

from duetime.aws.botocore_endpoints import FILE as ENDPOINTS

if TYPE_CHECKING:
    from botocore.session import Session

ROOTS = (
    *(f"Amazon Root CA {number}" for number in (1, 2, 3, 4)),
    "Starfield Services Root Certificate Authority - G2",
)
FILE = ENDPOINTS.with_name("amazon-roots.pem")


def amazon_roots() -> str:
    """Returns the roots as PEM. Raises LookupError if botocore no longer trusts one of them."""
    found = dict(_by_name(DEFAULT_CA_BUNDLE))
    if missing := [name for name in ROOTS if name not in found]:
        raise LookupError(f"{DEFAULT_CA_BUNDLE} has no {', '.join(missing)}")
    return "".join(found[name] for name in ROOTS)


def verify_with(session: "Session", endpoint_url: str | None) -> str | None:
    """Returns the file of roots for a client of AWS itself. None leaves the choice to botocore:
    if an endpoint or a list of roots is configured, and outside the partition `aws`, because
    Amazon's repository does not name the authorities there."""
    if endpoint_url or _is_set(session) or not FILE.exists():
        return None
    region = session.get_config_variable("region")
    ours = region and session.get_partition_for_region(region) == "aws"
    return str(FILE) if ours else None


def _is_set(session: "Session") -> bool:
    own_endpoint = any(name.startswith("AWS_ENDPOINT_URL") for name in os.environ)
    own_roots = session.get_config_variable("ca_bundle") or os.environ.get("REQUESTS_CA_BUNDLE")
    return own_endpoint or bool(own_roots)


def _by_name(path: str) -> Iterator[tuple[str, str]]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(path)
    parsed: Any = context.get_ca_certs()  # typeshed does not type the subject
    binary = context.get_ca_certs(binary_form=True)
    for certificate, der in zip(parsed, binary, strict=True):
        subject = dict(pair for part in certificate["subject"] for pair in part)
        yield subject.get("commonName", ""), ssl.DER_cert_to_PEM_cert(der)
