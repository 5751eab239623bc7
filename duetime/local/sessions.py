"""Who may use a server of this machine: those who send its token.

A program sends the token as a bearer token. A page posts it to `/auth` and gets a cookie, which
scripts cannot read and which the browser does not send with the requests of other sites. The cookie
is derived from the token, so it is valid as long as the token is, and does not contain it. Cookies
do not separate ports, so its name does.
"""

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from hmac import new as hmac
from ipaddress import ip_address

from duetime.api.callers import ALL_RIGHTS, ONLY_WORK, READ_ONLY, Authorization, Caller, Right
from duetime.api.http import FieldError, Problem, Request, Response, invalid
from duetime.core.value import replace, value

SIGN_IN = "/auth"


@value(frozen=True, kw_only=True, slots=True)
class Sessions:
    """The sessions of a server. Without a token it takes every request; `port` is its own. The
    worker token has the right `work` alone."""

    token: str | None = None
    worker_token: str | None = None
    port: int = 0
    read_only: bool = False

    @property
    def cookie(self) -> str:
        return f"duetime_{self.port}"

    def admit(self, request: Request) -> Request:
        """Returns the request with its caller. Raises Problem if it lacks the token."""
        rights = self._rights(request.headers)
        needed: Authorization | None = None if self.token is None else "token"
        return replace(request, caller=Caller(rights=rights, authorization=needed))

    def _rights(self, headers: Mapping[str, str]) -> frozenset[Right]:
        """Raises Problem without a token, or with another one. A server that may only be read
        leases nothing either."""
        everything = READ_ONLY if self.read_only else ALL_RIGHTS
        if self.token is None:
            return everything
        if self.worker_token is not None and _same(_bearer(headers), self.worker_token):
            return frozenset() if self.read_only else ONLY_WORK
        self._check(headers, self.token)
        return everything

    def sign_in(self, request: Request) -> Response:
        """Answers `POST /auth` with `{"token": …}` and a cookie. Raises Problem."""
        if request.method != "POST":
            headers = {"allow": "POST"}
            detail = f"{SIGN_IN} takes POST."
            raise Problem(405, "method", "Method not allowed", detail, headers=headers)
        if self.token is None:
            detail = "This server has no token: every request is answered without one."
            raise Problem(404, "not-found", "Not found", detail)
        if has_other_origin(request.headers):
            raise other_origin()
        if not _same(_token_in(request), self.token):
            raise _no_token()
        attributes = "Path=/; HttpOnly; SameSite=Strict"
        cookie = f"{self.cookie}={_session_of(self.token)}; {attributes}"
        return Response(status=204, headers={"set-cookie": cookie, "cache-control": "no-store"})

    def _check(self, headers: Mapping[str, str], token: str) -> None:
        if _same(_bearer(headers), token):
            return
        if not _same(self._session_in(headers), _session_of(token)):
            raise _no_token()
        if has_other_origin(headers):  # a browser adds the cookie to what a page sends
            raise other_origin()

    def _session_in(self, headers: Mapping[str, str]) -> str:
        pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        return next((text for name, _, text in pairs if name == self.cookie), "")


def _bearer(headers: Mapping[str, str]) -> str:
    """Returns the token of a request; empty if it sends none."""
    scheme, _, sent = headers.get("authorization", "").partition(" ")
    return sent.strip() if scheme.lower() == "bearer" else ""


def has_other_origin(headers: Mapping[str, str]) -> bool:
    origin = headers.get("origin")
    return origin is not None and origin.partition("://")[2] != headers.get("host")


def may_serve_pages(host: str, token: str | None) -> bool:
    """Whether a server on this host may serve the console: without a token only on loopback, since
    everyone who reaches the host could act through it."""
    return token is not None or is_loopback(host)


def is_loopback(name: str) -> bool:
    return name == "localhost" or (is_address(name) and ip_address(name).is_loopback)


def is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def other_origin() -> Problem:
    detail = "The Origin of the request differs from its Host."
    return Problem(403, "foreign", "From a page of another site", detail)


def _no_token() -> Problem:
    detail = "Send the token that this server was started with, as `Authorization: Bearer TOKEN`."
    headers = {"www-authenticate": "Bearer"}
    return Problem(401, "unauthorized", "The token is missing or wrong", detail, headers=headers)


def _token_in(request: Request) -> str:
    body = request.json()
    token = body.get("token") if isinstance(body, dict) else None
    if not isinstance(token, str) or len(body) != 1:
        raise invalid([FieldError("token", "the body must be an object with the token alone")])
    return token


def _session_of(token: str) -> str:
    return hmac(token.encode(), b"duetime session", sha256).hexdigest()


def _same(given: str, expected: str) -> bool:
    """Compares in a time that does not depend on how much of both is equal."""
    return compare_digest(given.encode(errors="surrogatepass"), expected.encode())
