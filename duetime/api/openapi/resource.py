"""/v1/openapi.json and /docs.

Both texts are the same for every caller and every request. In a bundle of infra/bundle.py they are
files, so that a function neither makes them nor loads what makes them.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from duetime.api.encoding import encode
from duetime.api.http import Request, Response
from duetime.api.query import Query

DOCUMENT_FILE = Path(__file__).with_name("openapi.json")
PAGE_FILE = Path(__file__).with_name("docs.html")

_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)


def document(request: Request, _: Mapping[str, str]) -> Response:
    Query(request).done()
    return Response.of_text(document_text(), "application/json")


def page(request: Request, _: Mapping[str, str]) -> Response:
    Query(request).done()
    text = page_text()
    return Response.of_text(
        text,
        "text/html; charset=utf-8",
        content_security_policy=policy_for(text),
        referrer_policy="no-referrer",
        x_content_type_options="nosniff",
    )


@cache
def document_text() -> bytes:
    return DOCUMENT_FILE.read_bytes() if DOCUMENT_FILE.exists() else made_document()


@cache
def page_text() -> bytes:
    return PAGE_FILE.read_bytes() if PAGE_FILE.exists() else made_page()


def made_document() -> bytes:
    from duetime.api.openapi.document import make_document

    return encode(make_document())


def made_page() -> bytes:
    from duetime.api.openapi.document import make_document
    from duetime.api.openapi.page import render

    return render(make_document()).encode()


def policy_for(text: bytes) -> str:
    """Allows the page its own style and nothing else: no script, no other host, no frame."""
    styles = [b64encode(sha256(style).digest()).decode() for style in _STYLE.findall(text)]
    allowed = " ".join(f"'sha256-{style}'" for style in styles)
    return (
        f"default-src 'none'; style-src {allowed}; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )
