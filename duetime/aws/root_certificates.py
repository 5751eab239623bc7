"""The certificate authorities that sign for AWS, out of botocore's list of all of them.

botocore loads its list for every connection that it opens: 20 to 30 ms of a whole CPU, which a
function of 512 MB does not have. A bundle carries the five roots of Amazon, which take about one.
Their owner recommends all five to those who keep a list of their own:
https://www.amazontrust.com/repository/. Beside a source tree there is no such file, and botocore
loads its own list.
"""

import os
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from botocore.httpsession import DEFAULT_CA_BUNDLE

from lambdas.aws.endpoints import FILE as ENDPOINTS

if TYPE_CHECKING:
    from botocore.session import Session

ROOTS = (
    *(f"Amazon Root CA {number}" for number in (1, 2, 3, 4)),
    "Starfield Services Root Certificate Authority - G2",
)
FILE = ENDPOINTS.with_name("amazon-roots.pem")


def amazon_roots() -> str:
    """As PEM. LookupError if botocore no longer trusts one of them."""
    found = dict(_by_name(DEFAULT_CA_BUNDLE))
    if missing := [name for name in ROOTS if name not in found]:
        raise LookupError(f"{DEFAULT_CA_BUNDLE} has no {', '.join(missing)}")
    return "".join(found[name] for name in ROOTS)


def verify_with(session: "Session", endpoint_url: str | None) -> str | None:
    """The file of roots for a client of AWS itself. None, and botocore decides, for an endpoint or
    a list of roots that somebody has set, and outside the partition `aws`: Amazon's repository
    does not say who signs there."""
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
    told: Any = context.get_ca_certs()  # typeshed does not say what a subject is
    binary = context.get_ca_certs(binary_form=True)
    for certificate, der in zip(told, binary, strict=True):
        subject = dict(pair for part in certificate["subject"] for pair in part)
        yield subject.get("commonName", ""), ssl.DER_cert_to_PEM_cert(der)
