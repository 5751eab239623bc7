"""The secrets of the local runner: a file that only its owner can read, and the environment."""

import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from duetime.core.errors import DuetimeError
from duetime.core.secrets import NAME_RULE, Secret, is_name, read_secret

PREFIX = "DUETIME_SECRET_"


class LocalSecrets(Collection[str]):
    """Secrets by name, read and checked once. As a collection it holds their names; those of the
    environment are shown in small letters."""

    def __init__(self, file: Path | None, environment: Mapping[str, str]) -> None:
        """Raises DuetimeError or BadSecret, whose messages show no value."""
        self._of_file = {} if file is None else _of_file(file)
        self._of_environment = _of_environment(environment)
        for name in self._of_file:
            if (variable := _variable(name)) in self._of_environment:
                raise DuetimeError(f"secret {name!r} is in {file} and in {variable}: keep one")

    def get(self, name: str) -> Secret | None:
        return self._of_file.get(name) or self._of_environment.get(_variable(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        yield from self._of_file
        yield from (variable.removeprefix(PREFIX).lower() for variable in self._of_environment)

    def __len__(self) -> int:
        return len(self._of_file) + len(self._of_environment)


def _variable(name: str) -> str:
    """Returns DUETIME_SECRET_SHOP_KEY for shop.key, shop-key and shop_key."""
    return PREFIX + re.sub("[.-]", "_", name).upper()


def _of_file(file: Path) -> dict[str, Secret]:
    given = _parsed(_private_text(file), str(file))
    if not isinstance(given, dict):
        raise DuetimeError(f"--secrets {file} must hold an object: names and secrets")
    if not all(map(is_name, given)):
        raise DuetimeError(f"--secrets {file}: the name of a secret {NAME_RULE}")
    return {name: read_secret(name, secret) for name, secret in given.items()}


def _private_text(file: Path) -> str:
    """Returns the text of a file that no other user can read or change."""
    try:
        with file.open(encoding="utf-8") as opened:
            status = os.fstat(opened.fileno())
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise DuetimeError(f"--secrets {file} can be read by others; chmod 600 {file}")
            if status.st_uid not in (os.geteuid(), 0):
                raise DuetimeError(f"--secrets {file} belongs to another user")
            return opened.read()
    except UnicodeDecodeError:
        raise DuetimeError(f"--secrets {file} is not UTF-8 text") from None
    except OSError as error:
        raise DuetimeError(f"--secrets {file}: {error.strerror}") from None


def _of_environment(environment: Mapping[str, str]) -> dict[str, Secret]:
    found = {}
    for variable, text in environment.items():
        if variable.startswith(PREFIX) and variable != PREFIX:
            name = variable.removeprefix(PREFIX).lower()
            found[variable] = read_secret(name, _parsed(text, variable))
    return found


def _parsed(text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise DuetimeError(f"{source} is not JSON") from None  # the cause holds the text
