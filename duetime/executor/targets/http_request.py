"""The request that the `http` target sends: its URL, body and headers, and the secrets in them."""

import re
from typing import TYPE_CHECKING, Any

import urllib3

from duetime.core.codec import to_json
from duetime.core.secrets import SecretStore, is_reference
from duetime.core.task import Task
from duetime.core.times import SECOND, Millis
from duetime.core.value import value
from duetime.executor.targets import TargetFailed
from duetime.handlers.context import Context

if TYPE_CHECKING:
    from duetime.executor.secrets import AttemptSecrets

_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")


@value(frozen=True, kw_only=True, slots=True)
class HttpRequest:
    """`secrets` is None if the target names none."""

    method: str
    url: str
    body: bytes | None
    headers: urllib3.HTTPHeaderDict
    secrets: "AttemptSecrets | None" = None


def request_of(task: Task, ctx: Context, store: SecretStore | None, now: Millis) -> HttpRequest:
    """Raises TargetFailed or Snooze for a secret that cannot be used."""
    target, payload = task.spec.target, task.spec.payload
    body = None if payload is None else to_json(payload).encode()
    secrets = _secrets(task, store)
    url = secrets.url("target.url", target["url"]) if secrets else target["url"]
    headers = urllib3.HTTPHeaderDict({"User-Agent": "duetime"})
    if body is not None:
        headers["Content-Type"] = "application/json"
    # The task's own headers replace our defaults, in any spelling of their names.
    for name, text in target.get("headers", {}).items():
        headers[name] = _header(name, text, url, secrets) if secrets else text
    headers["Idempotency-Key"] = ctx.idempotency_key
    headers["Duetime-Attempt"] = str(ctx.attempt)
    if secrets and "sign" in target:
        headers.update(_signature(task, url, body or b"", secrets, now))
    return HttpRequest(
        method=target.get("method", "POST"),
        url=url,
        body=body,
        headers=headers,
        secrets=secrets,
    )


def _secrets(task: Task, store: SecretStore | None) -> "AttemptSecrets | None":
    """Imports what secrets need only for a target that names one: most do not."""
    target = task.spec.target
    texts = (target["url"], *target.get("headers", {}).values())
    if "sign" not in target and not any(map(is_reference, texts)):
        return None
    from duetime.executor.secrets import AttemptSecrets

    return AttemptSecrets(store, task)


def _header(name: str, given: Any, url: str, secrets: "AttemptSecrets") -> str:
    if not is_reference(given):
        return str(given)
    field = f"target.headers.{name}"
    host, plain = _destination(url)
    text = secrets.text(field, given, host=host, plain=plain)
    if not _HEADER_VALUE.fullmatch(text):
        reason = f"{field}: the value of the secret has a character that a header cannot have"
        raise TargetFailed("BadSecret", reason, permanent=True)
    return text


def _signature(
    task: Task, url: str, body: bytes, secrets: "AttemptSecrets", now: Millis
) -> dict[str, str]:
    """Signs with both values while the secret is rotated. The value itself is not sent, so plain
    HTTP does not reveal it."""
    from duetime.core.webhook_signatures import key_of, signature_headers

    host, _ = _destination(url)
    secret = secrets.secret("target.sign", task.spec.target["sign"], host=host)
    values = (secret.value,) if secret.previous is None else (secret.value, secret.previous)
    try:
        keys = [key_of(value) for value in values]
    except ValueError as error:
        raise TargetFailed("BadSecret", f"target.sign: {error}", permanent=True) from None
    return signature_headers(keys, task.id, now // SECOND, body)


def _destination(url: str) -> tuple[str, bool]:
    from duetime.executor.secrets import destination

    try:
        return destination(url)
    except urllib3.exceptions.LocationParseError as error:
        raise TargetFailed("LocationParseError", str(error)) from None
