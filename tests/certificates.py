"""A test certificate authority for servers on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Certificates:
    authority: Path  # PEM, for clients of the server
    server: Path  # PEM, with its key


def make_certificates(folder: Path, hosts: Sequence[str] = ()) -> Certificates:
    """Makes RSA certificates with 2048 bits, as AWS's endpoints have. The server's is valid for
    127.0.0.1 and for `hosts`."""
    ca_key, key = _key(), _key()
    ca_name, name = _name("Duetime test authority"), _name("127.0.0.1")
    is_ca = x509.BasicConstraints(ca=True, path_length=None)
    names = [x509.DNSName(host) for host in hosts]
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1")), *names])
    ca = _signed(ca_name, ca_key.public_key(), ca_name, ca_key, [is_ca])
    server = _signed(name, key.public_key(), ca_name, ca_key, [address])
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    made = Certificates(authority=folder / "authority.pem", server=folder / "server.pem")
    made.authority.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    made.server.write_bytes(private + server.public_bytes(serialization.Encoding.PEM))
    return made


def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _signed(
    subject: x509.Name,
    public: rsa.RSAPublicKey,
    issuer: x509.Name,
    key: rsa.RSAPrivateKey,
    extensions: Sequence[x509.ExtensionType],
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(key, hashes.SHA256())
