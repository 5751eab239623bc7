"""gzip of request bodies and of answers."""

import zlib
from dataclasses import replace

from duetime.api.http import BODY_LIMIT, Problem, Request, Response, too_large

GZIP = ("gzip", "x-gzip")
WITH_GZIP_HEADER = 31  # the `wbits` of zlib
GZIP_FROM = 1_024  # bytes of an answer
LEVEL = 1  # a page of 100 tasks takes a third of the CPU of level 5, and a fifth more bytes


def inflated(request: Request) -> Request:
    """Returns the request with its body as it was before compression. A body is inflated only up to
    the limit of bodies."""
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return request
    if encoding not in GZIP:
        detail = f"Send the body as it is or with gzip, not {encoding}."
        headers = {"accept-encoding": "gzip"}
        raise Problem(415, "encoding", "Unsupported content encoding", detail, headers=headers)
    inflater = zlib.decompressobj(WITH_GZIP_HEADER)
    try:
        body = inflater.decompress(request.body, BODY_LIMIT + 1)
    except zlib.error as error:
        raise _broken(str(error)) from None
    if len(body) > BODY_LIMIT:
        raise too_large("The limit is 5 MiB, also for a compressed body.")
    if not inflater.eof or inflater.unused_data:
        raise _broken("it ends early" if not inflater.eof else "something follows it")
    return replace(request, body=body)


def deflated(request: Request, response: Response) -> Response:
    """Returns the answer compressed, if it is long, the client takes gzip and it becomes shorter,
    also as the base64 text that Lambda returns."""
    body = response.encoded()
    if len(body) < GZIP_FROM:
        return response
    headers = {**response.headers, "vary": "accept-encoding"}
    if accepts_gzip(request.headers.get("accept-encoding", "")):
        packer = zlib.compressobj(LEVEL, wbits=WITH_GZIP_HEADER)
        packed = packer.compress(body) + packer.flush()
        if len(packed) * 4 < len(body) * 3:
            body = packed
            headers["content-encoding"] = "gzip"
    return Response(status=response.status, body=response.body, headers=headers, _encoded=body)


def accepts_gzip(header: str) -> bool:
    weights = {}
    for part in header.lower().split(","):
        name, _, parameter = part.partition(";")
        weights[name.strip()] = parameter.strip().replace(" ", "")
    weight = next((weights[name] for name in (*GZIP, "*") if name in weights), "q=0")
    return weight.rstrip("0.") != "q="


def _broken(reason: str) -> Problem:
    return Problem(400, "malformed", "The body is not gzip", f"The body cannot be read: {reason}.")
