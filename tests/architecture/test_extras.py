"""`pip install duetime` needs little, and what is missing is named in one sentence."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from duetime.extras import PACKAGES

ROOT = Path(__file__).parents[2]
BASE = {"httpx", "pydantic"}
EVERY = tuple(package for packages in PACKAGES.values() for package in packages)
OF_AWS = PACKAGES["aws"] + PACKAGES["moto"]
SIGN = "from duetime import Client; Client('https://tasks.test', sign='eu-central-1')"


def python(code: str, *, missing: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Runs code in a process in which these packages cannot be imported."""
    prelude = f"import sys; sys.modules.update(dict.fromkeys({missing!r}))\n"
    return subprocess.run(
        [sys.executable, "-c", prelude + code], capture_output=True, text=True, check=False
    )


def command(*words: str) -> str:
    return f"sys.argv = {['duetime', *words]!r}\nfrom duetime.__main__ import main\nmain()"


@pytest.mark.parametrize(
    "code",
    [
        "import duetime; duetime.Client('http://127.0.0.1:1')",
        "import duetime; duetime.AsyncClient('http://127.0.0.1:1')",
        "from duetime import Context, NotFound, PermanentError, WaitTimeout, task",
        "from duetime.webhooks import verify",
    ],
)
def test_client_and_handlers_import_no_package_of_an_extra(code: str) -> None:
    # Without click, since httpx imports rich for a command line of its own if both are there.
    optional = {*EVERY, "fastapi"}
    ran = python(f"{code}\nprint(sorted({optional!r} & set(sys.modules)))", missing=("click",))

    assert ran.stdout == "[]\n", ran.stderr


def test_client_does_not_import_pydantic() -> None:
    ran = python("import duetime; duetime.Client; print('pydantic' in sys.modules)")

    assert ran.stdout == "False\n", ran.stderr


@pytest.mark.parametrize(
    ("code", "missing", "sentence"),
    [
        (
            command("list"),
            EVERY,
            "The command line is not installed: pip install 'duetime[cli]'",
        ),
        (
            command("local"),
            EVERY,
            "The command line is not installed: pip install 'duetime[local]'",
        ),
        (
            command("local", "--memory"),
            (*PACKAGES["local"], *OF_AWS),
            "starlette is not installed: pip install 'duetime[local]'",
        ),
        (
            command("local", "--backend", "moto"),
            PACKAGES["moto"],
            "What --backend moto needs (import of moto halted; None in sys.modules)"
            " is not installed: pip install 'duetime[moto]'",
        ),
        (
            command("health", "--url", "https://tasks.test", "--sign", "eu-central-1"),
            OF_AWS,
            "What signs requests for AWS is not installed: pip install 'duetime[aws]'",
        ),
    ],
    ids=["command line", "runner", "server", "moto", "signature"],
)
def test_missing_extra_is_named_in_one_sentence(
    code: str, missing: tuple[str, ...], sentence: str
) -> None:
    ran = python(code, missing=missing)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_client_that_signs_without_the_extra_raises_an_error_that_names_it() -> None:
    ran = python(SIGN, missing=EVERY)

    assert "NotInstalled: What signs requests for AWS is not installed: pip install" in ran.stderr


def test_runner_starts_without_the_extra_for_aws() -> None:
    code = """
import duetime.local.runner
from duetime.local.interpreter import import_lazy_modules

import_lazy_modules()
"""
    ran = python(code, missing=OF_AWS)

    assert ran.returncode == 0, ran.stderr


def test_task_that_acts_on_aws_says_which_extra_it_needs() -> None:
    code = """
from duetime.executor.targets import TargetFailed
from duetime.executor.targets.lazy import LazyTargets
from duetime.local.options import LocalOptions
from duetime.local.targets import service_targets
try:
    LazyTargets({}, service_targets(LocalOptions(), None))["sqs"]
except TargetFailed as error:
    print(error.permanent, error)
"""
    ran = python(code, missing=OF_AWS)

    assert ran.stdout.startswith("True "), ran.stderr
    assert "What calls AWS is not installed: pip install 'duetime[aws]'" in ran.stdout


def names(requirements: list[str]) -> set[str]:
    found = {line.partition(">")[0].partition("[")[0] for line in requirements}
    return {name.replace("-", "_") for name in found}


def test_every_package_that_is_named_is_in_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    assert names(project["dependencies"]) == BASE
    for extra, packages in PACKAGES.items():
        # httptools comes with uvicorn[standard], botocore with boto3; all of opentelemetry-* is
        # imported as opentelemetry.
        assert set(packages) - {"httptools", "botocore", "opentelemetry"} <= names(extras[extra])
    assert extras["dev"][0] == "duetime[local,aws,moto,postgresql,live,metrics,otel]"
