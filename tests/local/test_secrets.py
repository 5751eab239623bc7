"""Secrets of the local runner: a private file, the environment, and no start with bad ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from duetime.core.errors import DuetimeError
from duetime.local.secrets import LocalSecrets

VALUE = "sk_live_hunter2"
SECRET = {"value": VALUE, "hosts": ["api.stripe.com"]}


def a_file(folder: Path, given: Any = None, mode: int = 0o600) -> Path:
    file = folder / "secrets.json"
    text = given if isinstance(given, str) else json.dumps({"stripe": SECRET, **(given or {})})
    file.write_text(text)
    file.chmod(mode)
    return file


def refusal(file: Path | None, **environment: str) -> str:
    with pytest.raises(DuetimeError) as refused:
        LocalSecrets(file, environment)
    assert VALUE not in str(refused.value)
    return str(refused.value)


def test_secrets_come_from_a_file_and_from_the_environment(tmp_path: Path):
    environment = {"DUETIME_SECRET_SHOP_KEY": json.dumps(SECRET), "HOME": "/"}
    secrets = LocalSecrets(a_file(tmp_path), environment)

    for name in ("stripe", "shop_key", "shop-key", "Shop.Key"):
        found = secrets.get(name)
        assert found is not None
        assert found.value == VALUE
        assert name in secrets
    assert secrets.get("other") is None
    assert "other" not in secrets
    assert (list(secrets), len(secrets)) == (["stripe", "shop_key"], 2)


def test_without_a_file_and_variables_there_is_no_secret():
    assert list(LocalSecrets(None, {"DUETIME_SECRETS": "a", "DUETIME_SECRET_": "{"})) == []


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o700])
def test_file_that_only_its_owner_reads_is_accepted(tmp_path: Path, mode: int):
    assert list(LocalSecrets(a_file(tmp_path, mode=mode), {})) == ["stripe"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o601])
def test_file_that_others_may_use_is_refused(tmp_path: Path, mode: int):
    file = a_file(tmp_path, mode=mode)

    assert refusal(file) == f"--secrets {file} can be read by others; chmod 600 {file}"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (f'{{"stripe": "{VALUE}"', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        (f'["{VALUE}"]', "must hold an object: names and secrets"),
        ({"a/b": SECRET}, "the name of a secret must be 1 to 64 letters"),
        ({"x": VALUE}, "secret 'x' must be an object"),
        ({"x": {"value": VALUE}}, "secret 'x' must have hosts"),
        ({"x": SECRET | {VALUE: 1}}, "secret 'x' has a field that is none of"),
    ],
)
def test_file_with_a_bad_secret_is_refused_without_showing_it(
    tmp_path: Path, given: Any, reason: str
):
    assert reason in refusal(a_file(tmp_path, given))


def test_file_that_cannot_be_read_is_refused(tmp_path: Path):
    assert refusal(tmp_path / "none").endswith("No such file or directory")
    assert refusal(tmp_path).endswith("Is a directory")
    file = a_file(tmp_path)
    file.write_bytes(b"\xff")
    assert refusal(file).endswith("is not UTF-8 text")


def test_variable_with_a_bad_secret_is_refused_without_showing_it():
    assert refusal(None, DUETIME_SECRET_KEY=VALUE) == "DUETIME_SECRET_KEY is not JSON"
    assert "secret 'key' must be an object" in refusal(None, DUETIME_SECRET_KEY=f'"{VALUE}"')


def test_secret_that_is_given_twice_is_refused(tmp_path: Path):
    file = a_file(tmp_path)

    assert refusal(file, DUETIME_SECRET_STRIPE=json.dumps(SECRET)) == (
        f"secret 'stripe' is in {file} and in DUETIME_SECRET_STRIPE: keep one"
    )
