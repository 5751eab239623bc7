"""The secrets of one attempt: looked up for its target, masked in everything that is kept of it.

A target that takes secrets does this::

    secrets = AttemptSecrets(store, task)
    password = secrets.text("target.password", task.spec.target["password"], host=host)
    return secrets.masked(lambda: ...)  # call the service; return its result or raise TargetFailed
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import urllib3
from urllib3.util import parse_url

from duetime.core.errors import Snooze, Unavailable
from duetime.core.http_urls import url_fault
from duetime.core.secret_masks import Masks
from duetime.core.secrets import REFERENCE, BadSecret, Secret, SecretStore, is_reference
from duetime.core.task import Task
from duetime.executor.targets import TargetFailed

RETRY_DELAY = 5.0  # seconds, after the store of the secrets did not answer

_masks: ContextVar[Masks | None] = ContextVar("masks", default=None)  # of the call of this thread


class AttemptSecrets:
    def __init__(self, store: SecretStore | None, task: Task) -> None:
        self._store = store
        self._namespace = task.spec.namespace
        self._masks = Masks()

    def text(self, field: str, given: Any, *, host: str, plain: bool = False) -> str:
        """Returns the text of a field: as it is, or the value of the secret that it names.

        `host` is where the text goes, and `plain` says that it goes there without TLS."""
        if not is_reference(given):
            return str(given)
        return str(self.secret(field, given, host=host, plain=plain).value)

    def secret(self, field: str, reference: Any, *, host: str, plain: bool = False) -> Secret:
        """Raises TargetFailed for a secret that does not exist or is not for this host and
        namespace. Raises Snooze if the store does not answer: the target was not called, so the
        attempt does not count."""
        name = reference[REFERENCE]
        found = self._find(field, name)
        self._masks.add(found)
        if reason := found.refusal(host, self._namespace, plain=plain):
            raise _refused(field, name, reason)
        return found

    def url(self, field: str, given: Any) -> str:
        """Returns a URL: as it is, or the value of the secret that it names, which must then be a
        URL of one of the secret's own hosts.

        Raises as `secret` does. The error shows nothing of a value that is not such a URL."""
        if not is_reference(given):
            return str(given)
        name = given[REFERENCE]
        found = self._find(field, name)
        self._masks.add(found)
        if reason := found.namespace_refusal(self._namespace) or self._url_refusal(found):
            raise _refused(field, name, reason)
        url = str(found.value)
        self._masks.add_text(parse_url(url).url)  # as urllib3 sends it
        return url

    def _url_refusal(self, secret: Secret) -> str | None:
        if fault := url_fault(str(secret.value)):
            return f"cannot be the URL: its value {fault}"
        try:
            host, plain = destination(str(secret.value))
        except urllib3.exceptions.LocationParseError:
            return "cannot be the URL: its value cannot be parsed"
        if not secret.lists(host):
            return "is not for the host of the URL that it holds"
        return secret.refusal(host, self._namespace, plain=plain)

    def masked(self, run: Callable[[], Any]) -> Any:
        """Runs the target. Masks the secrets in its result, in the error that it raises, and in
        what urllib3 logs meanwhile. The error is a new one without a cause: a log
        record of it shows nothing of the original."""
        with _masking_logs(self._masks):
            try:
                return self._masks.json(run())
            except TargetFailed as error:
                failure = TargetFailed(
                    error.type,
                    self._masks.text(str(error)),
                    permanent=error.permanent,
                    retry_after=error.retry_after,
                )
            except Exception as error:  # noqa: BLE001 - whatever it is, it may hold a value
                failure = TargetFailed(type(error).__name__, self._masks.text(str(error)))
        raise failure

    def _find(self, field: str, name: str) -> Secret:
        try:
            found = self._store.get(name) if self._store else None
        except Unavailable as error:
            raise Snooze(
                RETRY_DELAY, f"{field}: secret {name!r} could not be read: {error}"
            ) from None
        except BadSecret as error:
            raise TargetFailed("BadSecret", f"{field}: {error}", permanent=True) from None
        except Exception as error:
            reason = f"{field}: secret {name!r} could not be read: {error}"
            raise TargetFailed("SecretUnavailable", reason) from error
        if found is None:
            raise TargetFailed("SecretNotFound", f"{field}: no secret {name!r}", permanent=True)
        return found


def destination(url: str) -> tuple[str, bool]:
    """Returns the host, and whether it is called without TLS, as urllib3 itself reads the URL: two
    parsers that disagree would check one host and call another. Raises LocationParseError."""
    parts = parse_url(url)
    return parts.host or "", parts.scheme != "https"


def _refused(field: str, name: str, reason: str) -> TargetFailed:
    return TargetFailed("SecretRefused", f"{field}: secret {name!r} {reason}", permanent=True)


@contextmanager
def _masking_logs(masks: Masks) -> Iterator[None]:
    token = _masks.set(masks)
    try:
        yield
    finally:
        _masks.reset(token)


class _MaskingFilter(logging.Filter):
    """urllib3 logs answers that it cannot parse, as they came."""

    def filter(self, record: logging.LogRecord) -> bool:
        masks = _masks.get()
        if masks is not None:
            record.msg, record.args = masks.text(record.getMessage()), ()
            record.exc_info = record.exc_text = None
        return True


for _name in ("urllib3.connection", "urllib3.connectionpool", "urllib3.response"):
    logging.getLogger(_name).addFilter(_MaskingFilter())
