"""ETag and If-None-Match: polling a task that has not changed costs an answer without a body."""

from hashlib import blake2b

from duetime.api.http import Request, Response


def with_etag(request: Request, response: Response, *, max_age: int = 0) -> Response:
    """Returns the answer with its ETag, or 304 if the client has it. The tag is made from the body,
    so whatever changes the body changes the tag; it is weak, since gzip does not change it. The
    client may show the answer again for `max_age` seconds."""
    etag = f'W/"{blake2b(response.encoded(), digest_size=12).hexdigest()}"'
    cached = f"max-age={max_age}" if max_age else "no-cache"
    headers = {"etag": etag, "cache-control": f"private, {cached}"}
    if _matches(request.headers.get("if-none-match", ""), etag):
        return Response(status=304, headers=headers)
    return Response(
        status=response.status, body=response.body, headers={**response.headers, **headers}
    )


def _matches(header: str, etag: str) -> bool:
    """Compares weakly, as RFC 9110 says."""
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]
    return "*" in tags or etag.removeprefix("W/") in tags
