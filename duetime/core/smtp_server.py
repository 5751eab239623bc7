"""The SMTP server of a local runner, as `--smtp` names it."""

from typing import Literal
from urllib.parse import unquote, urlsplit

from duetime.core.value import value

Tls = Literal["never", "starttls", "always"]
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
_TLS: dict[str, tuple[Tls, int]] = {
    "smtp": ("never", 25),
    "smtp+starttls": ("starttls", 587),
    "smtps": ("always", 465),
}


@value(frozen=True, kw_only=True, slots=True)
class SmtpServer:
    host: str
    port: int
    tls: Tls
    user: str | None = None
    password: str | None = None


def parse_smtp_url(text: str) -> SmtpServer:
    """`smtp://127.0.0.1:1025`, `smtp+starttls://user:password@mail.example.com`; raises
    ValueError, whose message never has the password in it."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("has a port that is not a number from 1 to 65535") from None
    if parts.scheme not in _TLS or not parts.hostname or parts.path.strip("/"):
        raise ValueError("is not an address like smtp://127.0.0.1:1025 or smtps://mail.example.com")
    tls, usual_port = _TLS[parts.scheme]
    if parts.username and tls == "never" and parts.hostname not in _THIS_MACHINE:
        raise ValueError("sends a password unencrypted; use smtps:// or smtp+starttls://")
    return SmtpServer(
        host=parts.hostname,
        port=port or usual_port,
        tls=tls,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
    )
