"""Secrets in SSM: SecureStrings at `/duetime/<stage>/<name>`, each a JSON object."""

import logging
from collections.abc import Collection
from threading import Lock
from typing import Any, Final

from botocore.exceptions import ClientError

from duetime.aws.clients import error_code, translate_errors
from duetime.core.codec import from_json
from duetime.core.ports import Clock
from duetime.core.secrets import BadSecret, Secret, read_secret
from duetime.core.times import MINUTE, Millis

KEPT_FOR: Final[Millis] = 5 * MINUTE


class SsmSecretStore:
    """Keeps each secret for 5 minutes, so SSM is asked once for many tasks, and a rotated secret
    is used everywhere 5 minutes later. Only `names` are asked for: those that the stage lists,
    which are all that its executors may read."""

    def __init__(self, ssm: Any, stage: str, names: Collection[str], clock: Clock) -> None:
        self._ssm = ssm
        self._stage = stage
        self._names = names
        self._clock = clock
        self._kept: dict[str, tuple[Millis, Secret]] = {}
        self._lock = Lock()  # held while SSM is asked: the tasks of a batch start together
        # At the level DEBUG botocore logs each answer, decrypted values included.
        logging.getLogger("botocore.parsers").setLevel(logging.INFO)

    def get(self, name: str) -> Secret | None:
        if name not in self._names:
            return None
        with self._lock:
            now = self._clock.now()  # not monotonic: that may stop while a sandbox is frozen
            read_at, kept = self._kept.get(name, (0, None))
            if kept is not None and 0 <= now - read_at < KEPT_FOR:
                return kept
            found = self._read(name)
            if found is not None:
                self._kept[name] = (now, found)
            return found

    def _read(self, name: str) -> Secret | None:
        path = f"/duetime/{self._stage}/{name}"
        try:
            with translate_errors():
                answer = self._ssm.get_parameter(Name=path, WithDecryption=True)
        except ClientError as error:
            if error_code(error) == "ParameterNotFound":
                return None
            raise
        return _parsed(name, answer["Parameter"]["Value"])


def _parsed(name: str, text: str) -> Secret:
    try:
        given = from_json(text)
    except (ValueError, RecursionError):  # its message and its cause would show the text
        given = None
    if given is None:
        raise BadSecret(name, "must be a JSON object; see docs/how-to/secrets-and-signatures.md")
    return read_secret(name, given)
